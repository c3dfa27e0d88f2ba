#include "tensor/kernels/softmax.h"

#include <limits>

#include "autograd/node.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

// x with -inf where the mask is false.
Tensor masked(const Operand& x, const Operand& mask) {
  check_floating(x);
  if (!mask.defined()) return x.tensor();
  check(mask->dtype() == boolean, "the mask is ", mask->dtype(), " ", mask->shape(),
        "; it must be bool, true = may attend (an additive bias is added to x)");
  broadcast_shapes(x->shape(), mask->shape(), "x", "mask");
  return kernel::where(mask, x, kernel::full({}, -std::numeric_limits<double>::infinity(), x->dtype()));
}

// y = kernel(x, dim), with x at -inf where the mask is false, and the rule of g, y and dim.
template <class Rule>
Tensor along(const char* op, Tensor (*kernel)(const Tensor&, int64_t), const Operand& x, const Operand& mask,
             int64_t dim, Rule rule) {
  const OpScope scope(op, x.line());
  const Tensor seen = masked(x, mask);
  dim = check_dim(seen, dim);
  return record(op, kernel(seen, dim),
                {{x, [dim, rule](const Tensor& g, const Tensor& y) { return rule(g, y, dim); }}});
}

// With y_i = exp(x_i) / sum_j exp(x_j):
//
//   dy_j/dx_i = y_j ([i == j] - y_i)   =>   dx = y (g - sum_j g_j y_j)
//
// A line of zeros, which masked_softmax has, gets the gradient 0 by the same formula.
Tensor softmax_gradient(const Tensor& g, const Tensor& y, int64_t dim) {
  if (!grad_enabled()) return kernel::softmax_backward(g, y, dim);
  return y * (g - sum(g * y, dim, true));
}

}  // namespace

Tensor softmax(Operand x, Dim dim) { return along("softmax", kernel::softmax, x, {}, dim, softmax_gradient); }

Tensor masked_softmax(Operand x, Operand mask, Dim dim) {
  return along("masked_softmax", kernel::masked_softmax, x, mask, dim, softmax_gradient);
}

// y_i = max(x_i - t, 0) with t such that sum_i y_i = 1: with S the i where y_i > 0,
// t = (sum_{j in S} x_j - 1) / |S|.
//
//   dy_j/dx_i = [i == j] - 1 / |S|  for i, j in S   =>   dx = [y > 0] (g - mean_{j in S} g_j)
Tensor sparsemax(Operand x, Operand mask, Dim dim) {
  const auto rule = [](const Tensor& g, const Tensor& y, int64_t d) {
    const Tensor support = to(y > 0, y.dtype());
    const Tensor size = maximum(sum(support, d, true), 1);
    return support * (g - sum(g * support, d, true) / size);
  };
  return along("sparsemax", kernel::sparsemax, x, mask, dim, rule);
}

// y_i = x_i - log sum_j exp(x_j)
//
//   dy_j/dx_i = [i == j] - exp(y_i)   =>   dx = g - exp(y) sum_j g_j
Tensor log_softmax(Operand x, Dim dim) {
  const auto rule = [](const Tensor& g, const Tensor& y, int64_t d) {
    if (!grad_enabled()) return kernel::log_softmax_backward(g, y, d);
    return g - exp(y) * sum(g, d, true);
  };
  return along("log_softmax", kernel::log_softmax, x, {}, dim, rule);
}

}  // namespace heed
