#pragma once

#include "autograd/operand.h"

/// Products.
namespace heed {

Tensor matmul(Operand a, Operand b);  // [..., n, k] x [..., k, m]; vectors as in PyTorch
Tensor mm(Operand a, Operand b);      // [n, k] x [k, m]
Tensor bmm(Operand a, Operand b);     // [B, n, k] x [B, k, m]
Tensor mv(Operand a, Operand x);      // [n, k] x [k]
Tensor dot(Operand a, Operand b);     // [k] x [k] -> a scalar
Tensor outer(Operand a, Operand b);   // [n], [m] -> [n, m]
Tensor addmm(Operand x, Operand a, Operand b, double beta = 1, double alpha = 1);  // beta x + alpha a b
// "bij,bjk->bik"
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, Line line = Line::current());
Tensor linear(Operand x, Operand weight, Operand bias = {});  // [..., in], [out, in], [out] -> x W^T + b

}  // namespace heed
