#include "autograd/ops/scan.h"

#include "autograd/node.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "tensor/kernels/reduce.h"

namespace heed {

// y_i = sum_{j <= i} x_j, or sum_{j >= i} x_j in reverse; each is the gradient of the other.
static Tensor running_sum(const Operand& x, int64_t dim, bool reverse) {
  return record("cumsum", kernel::cumsum(x, dim, reverse),
                {{x, "Σ of g over the sums that contain it",
                  [dim, reverse](const Tensor& g) { return running_sum(g, dim, !reverse); }}},
                {{"dim", dim}, {"reverse", reverse}});
}

Tensor cumsum(Operand x, Dim dim) {
  const OpScope scope("cumsum", x.line());
  return running_sum(x, check_dim(x, dim), false);
}

// Multiplies the first half by the second until one is left. The rule of a product of two is exact at zeros.
Tensor prod(Operand x, Dim dim, bool keepdim) {
  const OpScope scope("prod", x.line());
  if (x->dim() == 0) return prod(reshape(x, {1}), dim);
  dim = check_dim(x, dim);
  const Shape shape = reduced_shape(x->shape(), {dim}, keepdim);
  Tensor y = x->dtype() == boolean ? to(x, int64) : x.tensor();
  if (x->size(dim) == 0) return sum(y, dim, keepdim) + 1;  // no factors: 1, with the history of x
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

}  // namespace heed
