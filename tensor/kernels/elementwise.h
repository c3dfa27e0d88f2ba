#pragma once

#include <optional>

#include "tensor/number.h"
#include "tensor/tensor.h"

/// One value in, one value out. Results are new and contiguous; operands may have any strides and broadcast.
/// Operands of one call have one dtype unless said otherwise.
namespace heed::kernel {

Tensor full(const Shape& shape, Number value, DType dtype);
Tensor clone(const Tensor& x);       // contiguous
Tensor contiguous(const Tensor& x);  // x itself if it is
Tensor cast(const Tensor& x, DType dtype);
void copy_into(const Tensor& out, const Tensor& x);  // x broadcasts to out and takes its dtype
void fill(const Tensor& out, Number value);          // refuses what does not fit the dtype
void add_into(const Tensor& out, const Tensor& x, double alpha = 1);  // out += alpha x
void sub_into(const Tensor& out, const Tensor& x, double alpha = 1);
void mul_into(const Tensor& out, const Tensor& x);
void div_into(const Tensor& out, const Tensor& x);

// floating
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor silu(const Tensor& x);
Tensor leaky_relu(const Tensor& x, double slope);
Tensor elu(const Tensor& x, double alpha);
Tensor softplus(const Tensor& x, double beta, double threshold);
Tensor gelu(const Tensor& x);
Tensor gelu_tanh(const Tensor& x);

// their gradients in one pass, from the incoming g and the operand x or the result y
Tensor tanh_backward(const Tensor& g, const Tensor& y);     // g (1 - y^2)
Tensor sigmoid_backward(const Tensor& g, const Tensor& y);  // g y (1 - y)
Tensor relu_backward(const Tensor& g, const Tensor& y);     // y <= 0 ? 0 : g
Tensor gelu_backward(const Tensor& g, const Tensor& x);     // g (Phi(x) + x phi(x))
Tensor silu_backward(const Tensor& g, const Tensor& x);     // g s (1 + x (1 - s)), s = sigmoid(x)

// numbers of any kind
Tensor abs(const Tensor& x);
Tensor neg(const Tensor& x);
Tensor square(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor floor(const Tensor& x);
Tensor trunc(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor clamp(const Tensor& x, std::optional<double> min, std::optional<double> max);
Tensor add(const Tensor& a, const Tensor& b, double alpha = 1);
Tensor sub(const Tensor& a, const Tensor& b, double alpha = 1);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, const Tensor& b);  // NaN wins
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);  // condition is bool

// results are bool
Tensor eq(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& a, const Tensor& b);
Tensor isnan(const Tensor& x);
Tensor isfinite(const Tensor& x);
Tensor logical_and(const Tensor& a, const Tensor& b);  // bool operands
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& x);

}  // namespace heed::kernel
