#include "tensor/kernels/reduce.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "autograd/ops/reduce.h"
#include "tensor/kernels/elementwise.h"

namespace heed {

using detail::expand_reduced;

Tensor detail::expand_reduced(const Tensor& y, const Shape& shape, const Shape& dims) {
  return expand(reshape(y, reduced_shape(shape, dims, true)), shape);
}

void detail::check_nonempty(const Operand& x, const Shape& dims) {
  for (const int64_t d : dims)
    check(d >= x->dim() || x->shape()[d] > 0, "x is ", x->shape(), ", which has no values along dim ", d,
          " to choose from");
}

// y = sum_i x_i.   dx_i = g
Tensor sum(Operand x, Dims dims, bool keepdim) {
  const OpScope scope("sum", x.line());
  dims = check_dims(x->dim(), dims);
  return record("sum", kernel::sum(x, dims, keepdim),
                {{x, "g, expanded to the shape of $1",
                  [shape = x->shape(), dims](const Tensor& g) { return expand_reduced(g, shape, dims); }}},
                {{"dims", dims}, {"keepdim", keepdim}});
}

// y = sum_i x_i / n.   dx_i = g / n
Tensor mean(Operand x, Dims dims, bool keepdim) {
  const OpScope scope("mean", x.line());
  check_floating(x);
  dims = check_dims(x->dim(), dims);
  auto rule = [shape = x->shape(), dims](const Tensor& g) {
    const double share = static_cast<double>(g.numel()) / static_cast<double>(numel(shape));
    return expand_reduced(g * share, shape, dims);
  };
  return record("mean", kernel::mean(x, dims, keepdim), {{x, "g / n", std::move(rule)}},
                {{"dims", dims}, {"keepdim", keepdim}});
}

// dx_i = g / k where x_i is one of k extreme values; where y is NaN, those that are NaN
static Tensor extreme(const char* op, Tensor (*of)(const Tensor&, const Shape&, bool), const Operand& x,
                      Shape dims, bool keepdim) {
  const OpScope scope(op, x.line());
  dims = check_dims(x->dim(), dims);
  detail::check_nonempty(x, dims);
  auto rule = [dims, x = save(x)](const Tensor& g, const Tensor& y) {
    const Shape& shape = x().shape();
    const Tensor hit = to(logical_or(x() == expand_reduced(y, shape, dims), isnan(x())), g.dtype());
    return expand_reduced(g, shape, dims) * hit / sum(hit, dims, true);
  };
  const char* text = of == kernel::amax ? "g where $1 is largest, shared by equals"
                                        : "g where $1 is smallest, shared by equals";
  return record(op, of(x, dims, keepdim), {{x, text, std::move(rule)}},
                {{"dims", dims}, {"keepdim", keepdim}});
}

Tensor amax(Operand x, Dims dims, bool keepdim) { return extreme("amax", kernel::amax, x, dims, keepdim); }
Tensor amin(Operand x, Dims dims, bool keepdim) { return extreme("amin", kernel::amin, x, dims, keepdim); }
Tensor max(Operand x) { return extreme("max", kernel::amax, x, {}, false); }
Tensor min(Operand x) { return extreme("min", kernel::amin, x, {}, false); }

// y = log sum_i exp(x_i).   dx_i = g exp(x_i - y)
Tensor logsumexp(Operand x, Dims dims, bool keepdim) {
  const OpScope scope("logsumexp", x.line());
  check_floating(x);
  dims = check_dims(x->dim(), dims);
  auto rule = [dims, x = save(x)](const Tensor& g, const Tensor& y) {
    const Shape& shape = x().shape();
    return expand_reduced(g, shape, dims) * exp(x() - expand_reduced(y, shape, dims));
  };
  return record("logsumexp", kernel::logsumexp(x, dims, keepdim), {{x, "g exp($1 − $y)", std::move(rule)}},
                {{"dims", dims}, {"keepdim", keepdim}});
}

// amax or amin of the elements as bools.
static Tensor extreme_bool(const char* op, Tensor (*of)(const Tensor&, const Shape&, bool), const Operand& x,
                           Shape dims, bool keepdim) {
  const OpScope scope(op, x.line());
  dims = check_dims(x->dim(), dims);
  return record(op, of(kernel::cast(x, boolean), dims, keepdim), {x}, {{"dims", dims}, {"keepdim", keepdim}});
}

Tensor any(Operand x, Dims dims, bool keepdim) { return extreme_bool("any", kernel::amax, x, dims, keepdim); }
Tensor all(Operand x, Dims dims, bool keepdim) { return extreme_bool("all", kernel::amin, x, dims, keepdim); }

Tensor sum_to(Operand x, const Shape& shape) {
  const OpScope scope("sum_to", x.line());
  if (x->shape() == shape) return x.tensor();
  check(broadcast_shapes(x->shape(), shape) == x->shape(), shape, " does not broadcast to the shape of x, ",
        x->shape());
  const int64_t lead = x->dim() - shape.dim();
  Shape dims;
  for (int64_t d = 0; d < x->dim(); ++d)
    if (d < lead || (shape[d - lead] == 1 && x->shape()[d] != 1)) dims.push_back(d);
  return record("sum_to", TensorImpl::view(kernel::sum(x, dims, true), shape),
                {{x, "g, expanded to the shape of $1",
                  [from = x->shape()](const Tensor& g) { return broadcast_to(g, from); }}},
                {{"dims", dims}});
}

}  // namespace heed
