#include "autograd/ops/sort.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/index.h"
#include "tensor/kernels/reduce.h"

namespace heed {
namespace {

using MaxKernel = kernel::MaxResult (*)(const Tensor&, int64_t, bool);

ValuesIndices max_like(const char* op, MaxKernel max_of, const Operand& x, int64_t dim, bool keepdim) {
  const OpScope scope(op, x.line());
  dim = check_dim(x, dim);
  detail::check_nonempty(x, {dim});
  const kernel::MaxResult y = max_of(x, dim, keepdim);
  auto rule = [dim, shape = x->shape(), at = save(y.indices)](const Tensor& g) {
    const Shape kept = reduced_shape(shape, {dim}, true);
    return scatter_add(zeros(shape, g.dtype()), dim, reshape(at(), kept), reshape(g, kept));
  };
  const char* text = max_of == kernel::max ? "g where $1 is largest" : "g where $1 is smallest";
  return {record(op, y.values, {{x, text, std::move(rule)}},
                 {{"dim", dim}, {"keepdim", keepdim}, {"indices", y.indices}}),
          y.indices};
}

Tensor index_of_max(const char* op, MaxKernel max_of, const Operand& x, std::optional<Dim> dim,
                    bool keepdim) {
  const OpScope scope(op, x.line());
  const Shape dims = check_dims(x->dim(), dim ? Dims(*dim) : Dims());
  detail::check_nonempty(x, dims);
  const Tensor among = dim ? x.tensor() : TensorImpl::view(kernel::contiguous(x), {x->numel()});
  Tensor indices = max_of(among, dim ? check_dim(x, *dim) : 0, keepdim).indices;
  if (!dim) indices = TensorImpl::view(indices, Shape::filled(keepdim ? x->dim() : 0, 1));
  return record(op, std::move(indices), {x}, {{"dims", dims}, {"keepdim", keepdim}});
}

}  // namespace

ValuesIndices max(Operand x, Dim dim, bool keepdim) { return max_like("max", kernel::max, x, dim, keepdim); }
ValuesIndices min(Operand x, Dim dim, bool keepdim) { return max_like("min", kernel::min, x, dim, keepdim); }

Tensor argmax(Operand x, std::optional<Dim> dim, bool keepdim) {
  return index_of_max("argmax", kernel::max, x, dim, keepdim);
}
Tensor argmin(Operand x, std::optional<Dim> dim, bool keepdim) {
  return index_of_max("argmin", kernel::min, x, dim, keepdim);
}

// The values are gathered from the sorted positions, which also gives their gradient.
ValuesIndices topk(Operand x, int64_t k, int64_t dim, bool largest) {
  const OpScope scope("topk", x.line());
  if (x->dim() == 0) {
    const auto [values, indices] = topk(reshape(x, {1}), k, dim, largest);
    return {reshape(values, {}), reshape(indices, {})};
  }
  dim = check_dim(x, dim);
  check(0 <= k && k <= x->shape()[dim], "k is ", k, ", and x ", x->shape(), " has ", x->shape()[dim],
        " elements along dimension ", dim);
  const Tensor positions =
      record("topk", kernel::order(x, dim, k, largest), {x}, {{"k", k}, {"dim", dim}, {"largest", largest}});
  return {gather(x, dim, positions), positions};
}

ValuesIndices sort(Operand x, int64_t dim, bool descending) {
  const OpScope scope("sort", x.line());
  return topk(x, x->dim() ? x->size(dim) : 1, dim, descending);
}

Tensor argsort(Operand x, int64_t dim, bool descending) {
  const OpScope scope("argsort", x.line());
  return sort(x.tensor().detach(), dim, descending).indices;
}

}  // namespace heed
