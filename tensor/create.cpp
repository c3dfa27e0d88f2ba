#include "tensor/create.h"

#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

Tensor filled_like(const char* op, const Tensor& x, Scalar value, SourceLocation line) {
  const OpScope scope(op, line);
  return kernel::full(x.shape(), value, x.dtype());
}

// A tensor whose element i in row-major order is value(i).
Tensor tabulate(const Shape& shape, DType dtype, const auto& value) {
  Tensor y = Tensor::empty(shape, dtype);
  visit_dtype(dtype, [&]<class T>(Type<T>) {
    T* out = y.mutable_data<T>();
    for (int64_t i = 0, count = y.numel(); i < count; ++i) out[i] = Scalar(value(i)).to<T>();
  });
  return y;
}

__extension__ using Wide = __int128;  // holds the difference of any two int64

double narrow(double value) { return value; }
int64_t narrow(Wide value) { return static_cast<int64_t>(value); }

double count_steps(double distance, double step) { return std::ceil(distance / step); }
Wide count_steps(Wide distance, Wide step) { return distance / step + (distance % step != 0); }

// start, start + step, ... before end, computed in T: double or Wide.
template <class T>
Tensor steps(T start, T end, T step, DType dtype) {
  const T distance = end - start;
  const bool leads = step > 0 ? distance >= 0 : step < 0 && distance <= 0;
  const T count = leads ? count_steps(distance, step) : 0;
  check(leads && count < T(0x1p53), "from ", narrow(start), " to ", narrow(end), " in steps of ",
        narrow(step), ": the step must lead from start to end");
  return tabulate({static_cast<int64_t>(count)}, dtype,
                  [=](int64_t i) { return narrow(start + T(i) * step); });
}

}  // namespace

Tensor zeros(const Shape& shape, DType dtype, SourceLocation line) {
  const OpScope scope("zeros", line);
  return kernel::full(shape, 0, dtype);
}
Tensor ones(const Shape& shape, DType dtype, SourceLocation line) {
  const OpScope scope("ones", line);
  return kernel::full(shape, 1, dtype);
}
Tensor full(const Shape& shape, Scalar value, DType dtype, SourceLocation line) {
  const OpScope scope("full", line);
  return kernel::full(shape, value, dtype);
}
Tensor zeros_like(const Tensor& x, SourceLocation line) { return filled_like("zeros_like", x, 0, line); }
Tensor ones_like(const Tensor& x, SourceLocation line) { return filled_like("ones_like", x, 1, line); }

Tensor arange(Scalar start, Scalar end, Scalar step, DType dtype, SourceLocation line) {
  const OpScope scope("arange", line);
  return start.is_integer() && end.is_integer() && step.is_integer()
             ? steps(Wide{start.to<int64_t>()}, Wide{end.to<int64_t>()}, Wide{step.to<int64_t>()}, dtype)
             : steps(start.to<double>(), end.to<double>(), step.to<double>(), dtype);
}

// Counted from both ends, so that the last value is `end` to the last bit.
Tensor linspace(double start, double end, int64_t count, DType dtype, SourceLocation line) {
  const OpScope scope("linspace", line);
  check(count >= 0, "a count of ", count, " values; it must not be negative");
  const double step = count > 1 ? (end - start) / double(count - 1) : 0;
  return tabulate({count}, dtype, [=](int64_t i) {
    return i < (count + 1) / 2 ? start + double(i) * step : end - double(count - 1 - i) * step;
  });
}

Tensor eye(int64_t n, int64_t m, DType dtype, SourceLocation line) {
  const OpScope scope("eye", line);
  if (m < 0) m = n;
  Tensor y = zeros({n, m}, dtype);
  kernel::fill(TensorImpl::view(y, {std::min(n, m)}, {m + 1}), 1);
  return y;
}

Shape NestedList::shape() const {
  if (leaf_) return {};
  return (items_.empty() ? Shape() : items_[0].shape()).inserted(0, std::ssize(items_));
}

void NestedList::write(const Shape& shape, int64_t depth, std::vector<Scalar>& out) const {
  check(leaf_ == (depth == shape.dim()) && (leaf_ || static_cast<int64_t>(items_.size()) == shape[depth]),
        "the nested values are ragged: a row at depth ", depth, " does not fit the shape ", shape,
        " of the first rows");
  if (leaf_) out.push_back(value_);
  for (const NestedList& item : items_) item.write(shape, depth + 1, out);
}

Tensor tensor(const NestedList& values, DType dtype, SourceLocation line) {
  const OpScope scope("tensor", line);
  const Shape shape = values.shape();
  std::vector<Scalar> flat;
  values.write(shape, 0, flat);
  return from_vector(flat, shape, dtype);
}

template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape, DType dtype, SourceLocation line) {
  const OpScope scope("from_vector", line);
  check(numel(shape) == static_cast<int64_t>(values.size()), values.size(), " values for shape ", shape,
        " of ", numel(shape), " elements");
  return tabulate(shape, dtype, [&](int64_t i) -> T { return values[static_cast<size_t>(i)]; });
}

template Tensor from_vector(const std::vector<Scalar>&, const Shape&, DType, SourceLocation);
template Tensor from_vector(const std::vector<float>&, const Shape&, DType, SourceLocation);
template Tensor from_vector(const std::vector<double>&, const Shape&, DType, SourceLocation);
template Tensor from_vector(const std::vector<int64_t>&, const Shape&, DType, SourceLocation);
template Tensor from_vector(const std::vector<bool>&, const Shape&, DType, SourceLocation);

}  // namespace heed
