#include "tensor/tensor.h"

namespace heed {

constexpr int64_t kMaxBytes = sizeof(void*) == 8 ? int64_t{1} << 47 : INT32_MAX / 2;

// True when elements of these strides follow one another.
static bool is_row_major(const Shape& shape, const Strides& strides, int64_t count) {
  if (count == 0) return true;  // and the product of the other sizes may be any number
  int64_t expected = 1;
  for (int64_t d = shape.dim() - 1; d >= 0; --d) {
    if (shape[d] != 1 && strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

void TensorImpl::release() noexcept { delete this; }

Tensor Tensor::empty(const Shape& shape, DType dtype) {
  Tensor x(new TensorImpl(dtype, shape, shape));
  TensorImpl& body = *x.body_;
  // The number of elements and the strides in one loop. Negative, zero and too large sizes take the slow
  // path.
  int64_t count = 1, bytes = 0;
  bool odd = false;
  for (int64_t d = shape.dim() - 1; d >= 0; --d) {
    body.strides[d] = count;
    odd |= __builtin_mul_overflow(count, shape[d], &count) || shape[d] <= 0;
  }
  if (odd) [[unlikely]] {
    count = heed::numel(shape);
    body.strides = contiguous_strides(shape);
  }
  check(!__builtin_mul_overflow(count, size_of(dtype), &bytes) && bytes <= kMaxBytes, "a tensor of shape ",
        shape, " and dtype ", dtype, " does not fit into memory");
  body.numel = count;
  body.storage = Storage::make(bytes);
  return x;
}

Tensor TensorImpl::view(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset) {
  const TensorImpl& from = of(x);
  Tensor y(new TensorImpl(from.dtype, shape, strides));
  TensorImpl& body = *y.body_;
  body.offset = from.offset + offset;
  body.numel = heed::numel(shape);
  body.contiguous = is_row_major(shape, strides, body.numel);
  body.storage = from.storage;
  return y;
}

void Tensor::wrong_dtype(DType wanted, SourceLocation line) const {
  const OpScope scope("data", line);
  fail("the elements are ", dtype(), ", not ", wanted, "; convert with to(x, ", wanted, ")");
}

void Tensor::throw_undefined() {
  fail("a tensor that is needed here is undefined: default-constructed, moved from, or a plain number ",
       "was given");
}

}  // namespace heed
