#include "tensor/kernels/softmax.h"

#include "autograd/node.h"
#include "autograd/ops.h"

namespace heed {

// y_i = exp(x_i) / sum_j exp(x_j)
//
//   dy_j/dx_i = y_j ([i == j] - y_i)   =>   dx = y (g - sum_j g_j y_j)
Tensor softmax(Operand x, int64_t dim) {
  check_floating("softmax", x);
  dim = check_dim("softmax", x, dim);
  return record("softmax", kernel::softmax(x, dim), {{x, [dim](const Tensor& g, const Tensor& y) {
                                                        if (!grad_enabled())
                                                          return kernel::softmax_backward(g, y, dim);
                                                        return y * (g - sum(g * y, dim, true));
                                                      }}});
}

// y_i = x_i - log sum_j exp(x_j)
//
//   dy_j/dx_i = [i == j] - exp(y_i)   =>   dx = g - exp(y) sum_j g_j
Tensor log_softmax(Operand x, int64_t dim) {
  check_floating("log_softmax", x);
  dim = check_dim("log_softmax", x, dim);
  return record("log_softmax", kernel::log_softmax(x, dim), {{x, [dim](const Tensor& g, const Tensor& y) {
                                                                if (!grad_enabled())
                                                                  return kernel::log_softmax_backward(g, y,
                                                                                                      dim);
                                                                return g - exp(y) * sum(g, dim, true);
                                                              }}});
}

}  // namespace heed
