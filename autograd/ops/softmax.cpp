#include "tensor/kernels/softmax.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "autograd/ops/elementwise.h"
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
  return kernel::where(mask, x, kernel::full({}, -INFINITY, x->dtype()));
}

// y = kernel(x, dim) with x set to -inf where the mask is false.   dx = rule(g, y, dim)
Tensor softmax_like(const char* op, const auto& kernel, const Operand& x, const Operand& mask, int64_t dim,
                    const char* text, auto rule) {
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
  return grad_enabled() ? y * (g - sum(g * y, dim, true)) : kernel::softmax_backward(g, y, dim);
}

}  // namespace

constexpr const char* kSoftmaxRule = "$y (g − Σ g $y)";

Tensor softmax(Operand x, Dim dim) {
  return softmax_like("softmax", kernel::softmax, x, {}, dim, kSoftmaxRule, softmax_gradient);
}

Tensor masked_softmax(Operand x, Operand mask, Dim dim) {
  return softmax_like("masked_softmax", kernel::masked_softmax, x, mask, dim, kSoftmaxRule, softmax_gradient);
}

// With y_i = max((alpha - 1) x_i - t, 0)^(1 / (alpha - 1)) and s_i = y_i^(2 - alpha), or 0 where y_i is 0:
//
//   dy_j/dx_i = s_i ([i == j] - s_j / sum_k s_k)   =>   dx = s (g - sum_j g_j s_j / sum_k s_k)
//
// For alpha = 2, s is 1 where y is above 0.
static Tensor entmax_like(const char* op, const Operand& x, double alpha, const Operand& mask, int64_t dim) {
  const auto rule = [alpha](const Tensor& g, const Tensor& y, int64_t d) {
    const Tensor support = y > 0;
    const Tensor s =
        alpha == 2 ? to(support, y.dtype()) : where(support, pow(where(support, y, 1), 2 - alpha), 0);
    const Tensor total = sum(s, d, true);
    return s * (g - sum(g * s, d, true) / where(total == 0, 1, total));
  };
  const auto values = [alpha](const Tensor& z, int64_t d) { return kernel::entmax(z, d, alpha); };
  return softmax_like(op, values, x, mask, dim, "s (g − Σ g s / Σ s), s = $y^(2 − α), 0 where $y is 0", rule);
}

Tensor sparsemax(Operand x, Operand mask, Dim dim) { return entmax_like("sparsemax", x, 2, mask, dim); }

Tensor entmax(Operand x, double alpha, Operand mask, Dim dim) {
  if (alpha == 1) return masked_softmax(x, mask, dim);
  check_in("entmax", alpha > 1, "alpha is ", alpha, "; it must be at least 1");
  return entmax_like("entmax", x, alpha, mask, dim);
}

// y_i = x_i - log sum_j exp(x_j)
//
//   dy_j/dx_i = [i == j] - exp(y_i)   =>   dx = g - exp(y) sum_j g_j
Tensor log_softmax(Operand x, Dim dim) {
  const auto rule = [](const Tensor& g, const Tensor& y, int64_t d) {
    return grad_enabled() ? g - exp(y) * sum(g, d, true) : kernel::log_softmax_backward(g, y, d);
  };
  return softmax_like("log_softmax", kernel::log_softmax, x, {}, dim, "g − exp($y) Σ g", rule);
}

}  // namespace heed
