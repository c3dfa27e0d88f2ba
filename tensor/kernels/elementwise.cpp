#include "tensor/kernels/elementwise.h"

#include "tensor/kernels/map.h"

namespace heed::kernel {

void fill(const Tensor& out, Scalar value) {
  visit_dtype(out.dtype(), [&]<class T>(Type<T>) { apply<T>([v = value.to<T>()] { return v; }, out); });
}

Tensor full(const Shape& shape, Scalar value, DType dtype) {
  Tensor y = Tensor::empty(shape, dtype);
  fill(y, value);
  return y;
}

void copy_into(const Tensor& out, const Tensor& x) {
  visit_dtype(out.dtype(), [&]<class To>(Type<To>) {
    visit_dtype(x.dtype(), [&]<class From>(Type<From>) {
      apply<To, From>([](From v) { return static_cast<To>(v); }, out, x);
    });
  });
}

Tensor cast(const Tensor& x, DType dtype) {
  Tensor y = Tensor::empty(x.shape(), dtype);
  copy_into(y, x);
  return y;
}

Tensor clone(const Tensor& x) {
  Tensor y = detail::transposed_copy(x);
  return y.defined() ? y : cast(x, x.dtype());
}
Tensor contiguous(const Tensor& x) { return !x.defined() || x.is_contiguous() ? x : clone(x); }
Tensor contiguous_or(Scalar value, const Tensor& x, const Shape& shape, DType dtype) {
  return x.defined() ? contiguous(x) : kernel::full(shape, value, dtype);
}

Tensor empty_like_rows(const Shape& shape, const Tensor& x) {
  Tensor memory = Tensor::empty(shape, x.dtype());
  if (x.dim() != shape.dim()) return memory;
  Shape order = check_dims(shape.dim() - 1, {});
  std::reverse(order.begin(), order.end());  // where strides are equal, the last is the innermost
  std::ranges::stable_sort(order, {}, [&](int64_t d) { return x.strides()[d]; });
  Strides strides = memory.strides();
  int64_t step = shape.back();
  for (const int64_t d : order) {
    strides[d] = step;
    step *= shape[d];
  }
  return TensorImpl::view(memory, shape, strides);
}

void add_into(const Tensor& out, const Tensor& x) { update(out, x, std::plus<>()); }
void mul_into(const Tensor& out, const Tensor& x) { update(out, x, std::multiplies<>()); }

Tensor add(const Tensor& a, const Tensor& b) { return zip(a, b, std::plus<>(), wrapping); }
Tensor sub(const Tensor& a, const Tensor& b) { return zip(a, b, std::minus<>(), wrapping); }
Tensor mul(const Tensor& a, const Tensor& b) { return zip(a, b, std::multiplies<>(), wrapping); }

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shapes(condition.shape(), broadcast_shapes(a.shape(), b.shape()),
                                       "the condition", "a with b");
  Tensor y = Tensor::empty(shape, a.dtype());
  visit_dtype(a.dtype(), [&]<class T>(Type<T>) {
    apply<T, bool, T, T>([](bool c, T u, T v) { return c ? u : v; }, y, condition, a, b);
  });
  return y;
}

}  // namespace heed::kernel
