#include "tensor/kernels/reduce.h"

#include <algorithm>
#include <limits>

#include "autograd/node.h"
#include "autograd/ops.h"
#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

// A result of a reduction, laid back over the shape it came from.
Tensor restore(const Tensor& y, const Shape& shape, const Shape& dims) {
  return expand(reshape(y, reduced_shape(shape, dims, true)), shape);
}

void check_some(const char* op, const Operand& x, const Shape& dims) {
  for (const int64_t d : dims)
    check(d >= x->dim() || x->shape()[d] > 0, op, ": x is ", x->shape(), ", and of no values along dim ", d,
          " there is no ", op);
}

// Operands equal to the result share its gradient; what is NaN has NaN.
Tensor share(const Tensor& g, const Tensor& y, const Tensor& x, const Shape& dims) {
  const Tensor hit = to(x == restore(y, x.shape(), dims), x.dtype());
  return restore(g, x.shape(), dims) * hit / sum(hit, dims, true);
}

// g at the places that `index` names along one dimension, 0 elsewhere.
Tensor place(const Tensor& g, const Tensor& index, const Shape& shape, int64_t dim) {
  const Shape kept = reduced_shape(shape, {dim}, true);
  return scatter_add(zeros(shape, g.dtype()), dim, reshape(index, kept), reshape(g, kept));
}

}  // namespace

Tensor sum(Operand x, Dims dims, bool keepdim) {
  dims = check_dims("sum", x->dim(), dims);
  return record("sum", kernel::sum(x, dims, keepdim),
                {{x, [shape = x->shape(), dims](const Tensor& g) { return restore(g, shape, dims); }}});
}

Tensor mean(Operand x, Dims dims, bool keepdim) {
  check_floating("mean", x);
  dims = check_dims("mean", x->dim(), dims);
  return record("mean", kernel::mean(x, dims, keepdim),
                {{x, [shape = x->shape(), dims](const Tensor& g) {
                    const double share = static_cast<double>(g.numel()) / static_cast<double>(numel(shape));
                    return restore(g * share, shape, dims);
                  }}});
}

// Equal largest values share the gradient.
Tensor amax(Operand x, Dims dims, bool keepdim) {
  dims = check_dims("amax", x->dim(), dims);
  check_some("amax", x, dims);
  return record(
      "amax", kernel::amax(x, dims, keepdim),
      {{x, [dims, x = save(x)](const Tensor& g, const Tensor& y) { return share(g, y, x(), dims); }}});
}

Tensor amin(Operand x, Dims dims, bool keepdim) {
  dims = check_dims("amin", x->dim(), dims);
  check_some("amin", x, dims);
  return record(
      "amin", kernel::amin(x, dims, keepdim),
      {{x, [dims, x = save(x)](const Tensor& g, const Tensor& y) { return share(g, y, x(), dims); }}});
}

// y = log sum_i exp(x_i)   =>   dx_i = g exp(x_i - y)
Tensor logsumexp(Operand x, Dims dims, bool keepdim) {
  check_floating("logsumexp", x);
  dims = check_dims("logsumexp", x->dim(), dims);
  return record("logsumexp", kernel::logsumexp(x, dims, keepdim),
                {{x, [dims, x = save(x)](const Tensor& g, const Tensor& y) {
                    const Shape& shape = x().shape();
                    return restore(g, shape, dims) * exp(x() - restore(y, shape, dims));
                  }}});
}

namespace {

// n - correction, of the variance over n values; no less than 0, which makes it infinite or NaN.
double freedom(const Tensor& x, const Shape& dims, double correction) {
  double count = 1;
  for (const int64_t d : dims) count *= static_cast<double>(x.shape()[d]);
  return std::max(0.0, count - correction);
}

Tensor deviation(const Tensor& x, const Shape& dims) { return x - mean(x, dims, true); }

}  // namespace

// y = sum_i (x_i - mean)^2 / f, f = n - correction   =>   dx_i = g 2 (x_i - mean) / f
Tensor var(Operand x, Dims dims, double correction, bool keepdim) {
  check_floating("var", x);
  dims = check_dims("var", x->dim(), dims);
  const double f = freedom(x, dims, correction);
  return record("var", kernel::var(x, dims, f, keepdim), {{x, [dims, f, x = save(x)](const Tensor& g) {
                                                             return restore(g, x().shape(), dims) * (2 / f) *
                                                                    deviation(x(), dims);
                                                           }}});
}

// y = sqrt(var)   =>   dx_i = g (x_i - mean) / (f y), and 0 where all x are equal
Tensor std(Operand x, Dims dims, double correction, bool keepdim) {
  check_floating("std", x);
  dims = check_dims("std", x->dim(), dims);
  const double f = freedom(x, dims, correction);
  return record("std", kernel::sqrt(kernel::var(x, dims, f, keepdim)),
                {{x, [dims, f, x = save(x)](const Tensor& g, const Tensor& y) {
                    const Tensor scale = g / f / where(y == 0, std::numeric_limits<double>::infinity(), y);
                    return restore(scale, x().shape(), dims) * deviation(x(), dims);
                  }}});
}

namespace {

// The product along `dim`, halves against halves: the same in products of two, whose rules hold at zeros.
Tensor product_of_halves(Tensor x, int64_t dim, bool keepdim) {
  const Shape shape = reduced_shape(x.shape(), {dim}, keepdim);
  if (x.size(dim) == 0) return ones(shape, x.dtype());
  Tensor odd;
  for (int64_t n = x.size(dim); n > 1; n /= 2) {
    if (n % 2 == 1) {
      const Tensor last = narrow(x, dim, n - 1, 1);
      odd = odd.defined() ? odd * last : last;
    }
    x = narrow(x, dim, 0, n / 2) * narrow(x, dim, n / 2, n / 2);
  }
  return reshape(odd.defined() ? x * odd : x, shape);
}

}  // namespace

// dx_i = g times the product of all others, which is y / x_i only where nothing is 0.
Tensor prod(Operand x, int64_t dim, bool keepdim) {
  dim = check_dim("prod", x, dim);
  if (x->dim() == 0) return prod({reshape(x, {1}), x.line()}, 0);
  const Twin twin = [dim, keepdim](const std::vector<Tensor>& in) {
    return product_of_halves(in[0], dim, keepdim);
  };
  if (reference_mode() && is_floating(x->dtype())) return twin({x});
  return record(
      "prod", kernel::prod(x, {dim}, keepdim), {x},
      [dim, x = save(x)](const Tensor& g, const Tensor&) {
        return Gradients{kernel::prod_backward(g, x(), dim)};
      },
      twin);
}

Tensor prod(Operand x) { return prod({reshape(x, {-1}), x.line()}, 0); }

Tensor max(Operand x) { return amax(x); }
Tensor min(Operand x) { return amin(x); }

// The first of the largest has the gradient.
ValuesIndices max(Operand x, int64_t dim, bool keepdim) {
  dim = check_dim("max", x, dim);
  check_some("max", x, {dim});
  const kernel::Extreme y = kernel::max(x, dim, keepdim);
  return {record("max", y.values,
                 {{x, [dim, shape = x->shape(),
                       at = save(y.indices)](const Tensor& g) { return place(g, at(), shape, dim); }}}),
          y.indices};
}

ValuesIndices min(Operand x, int64_t dim, bool keepdim) {
  dim = check_dim("min", x, dim);
  check_some("min", x, {dim});
  const kernel::Extreme y = kernel::min(x, dim, keepdim);
  return {record("min", y.values,
                 {{x, [dim, shape = x->shape(),
                       at = save(y.indices)](const Tensor& g) { return place(g, at(), shape, dim); }}}),
          y.indices};
}

namespace {

using Extremes = kernel::Extreme (*)(const Tensor&, int64_t, bool);

Tensor where_extreme(const char* op, Extremes extremes, const Operand& x, std::optional<int64_t> dim,
                     bool keepdim) {
  if (dim) {
    const int64_t along = check_dim(op, x, *dim);
    check_some(op, x, {along});
    return extremes(x, along, keepdim).indices;
  }
  check(x->numel() > 0, op, ": x is ", x->shape(), ", and of no values there is no ", op);
  const Tensor row = kernel::contiguous(x);
  const Tensor flat = row.view_as({row.numel()}, {1}, row.body().offset);
  const Shape shape = keepdim ? Shape::filled(x->dim(), 1) : Shape{};
  return extremes(flat, 0, true).indices.view_as(shape, contiguous_strides(shape), 0);
}

}  // namespace

Tensor argmax(Operand x, std::optional<int64_t> dim, bool keepdim) {
  return where_extreme("argmax", kernel::max, x, dim, keepdim);
}

Tensor argmin(Operand x, std::optional<int64_t> dim, bool keepdim) {
  return where_extreme("argmin", kernel::min, x, dim, keepdim);
}

namespace {

// y_i = sum over j <= i of x_j, or over j >= i: each is the other's gradient.
Tensor running_sum(const Operand& x, int64_t dim, bool reverse) {
  return record("cumsum", kernel::cumsum(x, dim, reverse),
                {{x, [dim, reverse](const Tensor& g) { return running_sum(g, dim, !reverse); }}});
}

}  // namespace

Tensor cumsum(Operand x, int64_t dim) { return running_sum(x, check_dim("cumsum", x, dim), false); }

Tensor any(Operand x, Dims dims, bool keepdim) {
  return kernel::amax(kernel::cast(x, boolean), check_dims("any", x->dim(), dims), keepdim);
}

Tensor all(Operand x, Dims dims, bool keepdim) {
  return kernel::amin(kernel::cast(x, boolean), check_dims("all", x->dim(), dims), keepdim);
}

Tensor sum_to(Operand x, const Shape& shape) {
  if (x->shape() == shape) return x.tensor();
  check(broadcast_shapes("sum_to", x->shape(), shape) == x->shape(), "sum_to: ", shape,
        " does not broadcast to the shape of x, ", x->shape());
  const int64_t lead = x->dim() - shape.rank();
  Shape dims;
  for (int64_t d = 0; d < x->dim(); ++d)
    if (d < lead || (shape[d - lead] == 1 && x->shape()[d] != 1)) dims.push_back(d);
  const Tensor y = kernel::sum(x, dims, true);
  return record("sum_to", y.view_as(shape, contiguous_strides(shape), 0),
                {{x, [from = x->shape()](const Tensor& g) { return broadcast_to(g, from); }}});
}

}  // namespace heed
