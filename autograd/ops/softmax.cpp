#include "tensor/kernels/softmax.h"

#include <limits>

#include "autograd/grad_mode.h"
#include "autograd/node.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

// With y_i = exp(x_i) / sum_j exp(x_j):
//
//   dy_j/dx_i = y_j ([i == j] - y_i)   =>   dx = y (g - sum_j g_j y_j)
//
// A line of zeros, which masked_softmax has, gets the gradient 0 by the same formula.
Tensor softmax_gradient(const Tensor& g, const Tensor& y, int64_t dim) {
  if (!grad_enabled()) return kernel::softmax_backward(g, y, dim);
  return y * (g - sum(g * y, dim, true));
}

// x with -inf where the mask is false.
Tensor masked(const Operand& x, const Operand& mask) {
  check_floating(x);
  if (!mask.defined()) return x.tensor();
  check(mask->dtype() == boolean, "the mask is ", mask->dtype(), " ", mask->shape(),
        "; it must be bool, true = may attend (an additive bias is added to x)");
  broadcast_shapes(x->shape(), mask->shape(), "x", "mask");
  return kernel::where(mask, x, kernel::full({}, -std::numeric_limits<double>::infinity(), x->dtype()));
}

}  // namespace

Tensor softmax(Operand x, Dim dim) {
  const Calling here("softmax", x.line());
  check_floating(x);
  dim = check_dim(x, dim);
  return record("softmax", kernel::softmax(x, dim),
                {{x, [dim](const Tensor& g, const Tensor& y) { return softmax_gradient(g, y, dim); }}});
}

Tensor masked_softmax(Operand x, Operand mask, Dim dim) {
  const Calling here("masked_softmax", x.line());
  const Tensor seen = masked(x, mask);
  dim = check_dim(seen, dim);
  return record("masked_softmax", kernel::masked_softmax(seen, dim),
                {{x, [dim](const Tensor& g, const Tensor& y) { return softmax_gradient(g, y, dim); }}});
}

// y_i = max(x_i - t, 0) with t such that sum_i y_i = 1: with S the i where y_i > 0,
// t = (sum_{j in S} x_j - 1) / |S|.
//
//   dy_j/dx_i = [i == j] - 1 / |S|  for i, j in S   =>   dx = [y > 0] (g - mean_{j in S} g_j)
Tensor sparsemax(Operand x, Operand mask, Dim dim) {
  const Calling here("sparsemax", x.line());
  const Tensor seen = masked(x, mask);
  dim = check_dim(seen, dim);
  return record("sparsemax", kernel::sparsemax(seen, dim),
                {{x, [dim](const Tensor& g, const Tensor& y) {
                    const Tensor support = to(y > 0, y.dtype());
                    const Tensor size = maximum(sum(support, dim, true), 1);
                    return support * (g - sum(g * support, dim, true) / size);
                  }}});
}

// y_i = x_i - log sum_j exp(x_j)
//
//   dy_j/dx_i = [i == j] - exp(y_i)   =>   dx = g - exp(y) sum_j g_j
Tensor log_softmax(Operand x, Dim dim) {
  const Calling here("log_softmax", x.line());
  check_floating(x);
  dim = check_dim(x, dim);
  return record("log_softmax", kernel::log_softmax(x, dim), {{x, [dim](const Tensor& g, const Tensor& y) {
                                                                if (!grad_enabled())
                                                                  return kernel::log_softmax_backward(g, y,
                                                                                                      dim);
                                                                return g - exp(y) * sum(g, dim, true);
                                                              }}});
}

}  // namespace heed
