#include "tensor/kernels/reduce.h"

#include "autograd/node.h"
#include "autograd/ops.h"

namespace heed {
namespace {

// A result of a reduction, laid back over the shape it came from.
Tensor restore(const Tensor& y, const Shape& shape, const Shape& dims) {
  return expand(reshape(y, reduced_shape(shape, dims, true)), shape);
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
