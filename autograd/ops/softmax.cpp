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

// y = kernel(x, dim) with x set to -inf where the mask is false.   dx = rule(g, y, dim)
template <class Rule>
Tensor softmax_like(const char* op, Tensor (*kernel)(const Tensor&, int64_t), const Operand& x,
                    const Operand& mask, int64_t dim, const char* text, Rule rule) {
  const OpScope scope(op, x.line());
  const Tensor scores = masked(x, mask);
  dim = check_dim(scores, dim);
  return record(op, kernel(scores, dim),
                {{x, text, [dim, rule](const Tensor& g, const Tensor& y) { return rule(g, y, dim); }}},
                {{"dim", dim}, {"mask", mask}});
}

// With y_i = exp(x_i) / sum_j exp(x_j):
//
//   dy_j/dx_i = y_j ([i == j] - y_i)   =>   dx = y (g - sum_j g_j y_j)
//
// The same formula gives the gradient 0 where masked_softmax is 0 at all positions.
Tensor softmax_gradient(const Tensor& g, const Tensor& y, int64_t dim) {
  if (!grad_enabled()) return kernel::softmax_backward(g, y, dim);
  return y * (g - sum(g * y, dim, true));
}

}  // namespace

constexpr const char* kSoftmaxRule = "$y (g − Σ g $y)";

Tensor softmax(Operand x, Dim dim) {
  return softmax_like("softmax", kernel::softmax, x, {}, dim, kSoftmaxRule, softmax_gradient);
}

Tensor masked_softmax(Operand x, Operand mask, Dim dim) {
  return softmax_like("masked_softmax", kernel::masked_softmax, x, mask, dim, kSoftmaxRule, softmax_gradient);
}

// y_i = max(x_i - t, 0) with t such that sum_i y_i = 1: t = (sum_{j in S} x_j - 1) / |S|, S the i with y_i >
// 0
//
//   dy_j/dx_i = [i == j] - 1 / |S|  for i, j in S   =>   dx = [y > 0] (g - mean_{j in S} g_j)
Tensor sparsemax(Operand x, Operand mask, Dim dim) {
  const auto rule = [](const Tensor& g, const Tensor& y, int64_t d) {
    const Tensor support = to(y > 0, y.dtype());
    const Tensor size = maximum(sum(support, d, true), 1);
    return support * (g - sum(g * support, d, true) / size);
  };
  return softmax_like("sparsemax", kernel::sparsemax, x, mask, dim,
                      "g − the mean of g over $y > 0, 0 elsewhere", rule);
}

// y_i = x_i - log sum_j exp(x_j)
//
//   dy_j/dx_i = [i == j] - exp(y_i)   =>   dx = g - exp(y) sum_j g_j
Tensor log_softmax(Operand x, Dim dim) {
  const auto rule = [](const Tensor& g, const Tensor& y, int64_t d) {
    if (!grad_enabled()) return kernel::log_softmax_backward(g, y, d);
    return g - exp(y) * sum(g, d, true);
  };
  return softmax_like("log_softmax", kernel::log_softmax, x, {}, dim, "g − exp($y) Σ g", rule);
}

}  // namespace heed
