#include "tensor/kernels/reduce.h"

#include "autograd/node.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/index.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/shape.h"
#include "tensor/create.h"
#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

// A result of a reduction, laid back over the shape it came from.
Tensor restore(const Tensor& y, const Shape& shape, const Shape& dims) {
  return expand(reshape(y, reduced_shape(shape, dims, true)), shape);
}

void check_some(const Operand& x, const Shape& dims) {
  for (const int64_t d : dims)
    check(d >= x->dim() || x->shape()[d] > 0, "x is ", x->shape(), ", which has no values along dim ", d,
          " to choose from");
}

// Values equal to the extreme one share its gradient; where there is NaN, those that are.
Tensor extreme(const char* op, Tensor (*of)(const Tensor&, const Shape&, bool), const Operand& x, Shape dims,
               bool keepdim) {
  const OpScope scope(op, x.line());
  dims = check_dims(x->dim(), dims);
  check_some(x, dims);
  auto rule = [dims, x = save(x)](const Tensor& g, const Tensor& y) {
    const Shape& shape = x().shape();
    const Tensor hit = to(logical_or(x() == restore(y, shape, dims), isnan(x())), g.dtype());
    return restore(g, shape, dims) * hit / sum(hit, dims, true);
  };
  return record(op, of(x, dims, keepdim), {{x, std::move(rule)}});
}

using Extremes = kernel::MaxResult (*)(const Tensor&, int64_t, bool);

// The first of equals wins, and has the gradient.
ValuesIndices max_with_index(const char* op, Extremes extremes, const Operand& x, int64_t dim, bool keepdim) {
  const OpScope scope(op, x.line());
  dim = check_dim(x, dim);
  check_some(x, {dim});
  const kernel::MaxResult y = extremes(x, dim, keepdim);
  auto rule = [dim, shape = x->shape(), at = save(y.indices)](const Tensor& g) {
    const Shape kept = reduced_shape(shape, {dim}, true);
    return scatter_add(zeros(shape, g.dtype()), dim, reshape(at(), kept), reshape(g, kept));
  };
  return {record(op, y.values, {{x, std::move(rule)}}), y.indices};
}

Tensor where_extreme(const char* op, Extremes extremes, const Operand& x, std::optional<Dim> dim,
                     bool keepdim) {
  const OpScope scope(op, x.line());
  check_some(x, check_dims(x->dim(), dim ? Dims(*dim) : Dims()));
  if (dim) return extremes(x, check_dim(x, *dim), keepdim).indices;
  const NoGrad no_records;
  return reshape(extremes(reshape(x, {-1}), 0, true).indices, Shape::filled(keepdim ? x->dim() : 0, 1));
}

// y_i = sum over j <= i of x_j, or over j >= i: each is the other's gradient.
Tensor running_sum(const Operand& x, int64_t dim, bool reverse) {
  return record("cumsum", kernel::cumsum(x, dim, reverse),
                {{x, [dim, reverse](const Tensor& g) { return running_sum(g, dim, !reverse); }}});
}

}  // namespace

Tensor sum(Operand x, Dims dims, bool keepdim) {
  const OpScope scope("sum", x.line());
  dims = check_dims(x->dim(), dims);
  return record("sum", kernel::sum(x, dims, keepdim),
                {{x, [shape = x->shape(), dims](const Tensor& g) { return restore(g, shape, dims); }}});
}

Tensor mean(Operand x, Dims dims, bool keepdim) {
  const OpScope scope("mean", x.line());
  check_floating(x);
  dims = check_dims(x->dim(), dims);
  return record("mean", kernel::mean(x, dims, keepdim),
                {{x, [shape = x->shape(), dims](const Tensor& g) {
                    const double share = static_cast<double>(g.numel()) / static_cast<double>(numel(shape));
                    return restore(g * share, shape, dims);
                  }}});
}

Tensor amax(Operand x, Dims dims, bool keepdim) { return extreme("amax", kernel::amax, x, dims, keepdim); }
Tensor amin(Operand x, Dims dims, bool keepdim) { return extreme("amin", kernel::amin, x, dims, keepdim); }

// y = log sum_i exp(x_i)   =>   dx_i = g exp(x_i - y)
Tensor logsumexp(Operand x, Dims dims, bool keepdim) {
  const OpScope scope("logsumexp", x.line());
  check_floating(x);
  dims = check_dims(x->dim(), dims);
  return record("logsumexp", kernel::logsumexp(x, dims, keepdim),
                {{x, [dims, x = save(x)](const Tensor& g, const Tensor& y) {
                    const Shape& shape = x().shape();
                    return restore(g, shape, dims) * exp(x() - restore(y, shape, dims));
                  }}});
}

// y = sum_i (x_i - mean)^2 / f, f = n - correction but no less than 0   =>   dx_i = g 2 (x_i - mean) / f
Tensor var(Operand x, Dims dims, double correction, bool keepdim) {
  const OpScope scope("var", x.line());
  check_floating(x);
  dims = check_dims(x->dim(), dims);
  double f = 1;
  for (const int64_t d : dims) f *= static_cast<double>(x->shape()[d]);
  f = std::max(0.0, f - correction);
  auto rule = [dims, f, x = save(x)](const Tensor& g) {
    return restore(g, x().shape(), dims) * (2 / f) * (x() - mean(x(), dims, true));
  };
  return record("var", kernel::var(x, dims, f, keepdim), {{x, std::move(rule)}});
}

// sqrt(var), with the gradient 0 where all x are equal.
Tensor stddev(Operand x, Dims dims, double correction, bool keepdim) {
  const OpScope scope("stddev", x.line());
  const Tensor v = var(x, dims, correction, keepdim);
  return where(v == 0, 0, sqrt(where(v == 0, 1, v)));
}

// Halves times halves: products of two, whose rules hold at zeros.
Tensor prod(Operand x, Dim dim, bool keepdim) {
  const OpScope scope("prod", x.line());
  if (x->dim() == 0) return prod(reshape(x, {1}), dim);
  dim = check_dim(x, dim);
  const Shape shape = reduced_shape(x->shape(), {dim}, keepdim);
  Tensor y = x->dtype() == boolean ? to(x, int64) : x.tensor();
  if (x->size(dim) == 0) return sum(y, dim, keepdim) + 1;  // of no factors, with the history of x
  for (int64_t n = x->size(dim); n > 1; n = y.size(dim)) {
    const Tensor pairs = narrow(y, dim, 0, n / 2) * narrow(y, dim, n / 2, n / 2);
    y = n % 2 == 0 ? pairs : cat({pairs, narrow(y, dim, n - 1, 1)}, dim);
  }
  return reshape(y, shape);
}

Tensor prod(Operand x) {
  const OpScope scope("prod", x.line());
  return prod(reshape(x, {-1}), 0);
}

Tensor max(Operand x) { return extreme("max", kernel::amax, x, {}, false); }
Tensor min(Operand x) { return extreme("min", kernel::amin, x, {}, false); }

ValuesIndices max(Operand x, Dim dim, bool keepdim) {
  return max_with_index("max", kernel::max, x, dim, keepdim);
}
ValuesIndices min(Operand x, Dim dim, bool keepdim) {
  return max_with_index("min", kernel::min, x, dim, keepdim);
}

Tensor argmax(Operand x, std::optional<Dim> dim, bool keepdim) {
  return where_extreme("argmax", kernel::max, x, dim, keepdim);
}

Tensor argmin(Operand x, std::optional<Dim> dim, bool keepdim) {
  return where_extreme("argmin", kernel::min, x, dim, keepdim);
}

Tensor cumsum(Operand x, Dim dim) {
  const OpScope scope("cumsum", x.line());
  return running_sum(x, check_dim(x, dim), false);
}

Tensor any(Operand x, Dims dims, bool keepdim) {
  const OpScope scope("any", x.line());
  return kernel::amax(kernel::cast(x, boolean), check_dims(x->dim(), dims), keepdim);
}

Tensor all(Operand x, Dims dims, bool keepdim) {
  const OpScope scope("all", x.line());
  return kernel::amin(kernel::cast(x, boolean), check_dims(x->dim(), dims), keepdim);
}

Tensor sum_to(Operand x, const Shape& shape) {
  const OpScope scope("sum_to", x.line());
  if (x->shape() == shape) return x.tensor();
  check(broadcast_shapes(x->shape(), shape) == x->shape(), shape, " does not broadcast to the shape of x, ",
        x->shape());
  const int64_t lead = x->dim() - shape.dim();
  Shape dims;
  for (int64_t d = 0; d < x->dim(); ++d)
    if (d < lead || (shape[d - lead] == 1 && x->shape()[d] != 1)) dims.push_back(d);
  const Tensor y = kernel::sum(x, dims, true);
  return record("sum_to", TensorImpl::view(y, shape),
                {{x, [from = x->shape()](const Tensor& g) { return broadcast_to(g, from); }}});
}

}  // namespace heed
