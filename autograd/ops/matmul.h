#pragma once

#include "autograd/operand.h"

/// Matrix products of floating tensors; products.h has products of given ranks, and einsum.
/// Throws for inner sizes that differ and for different dtypes.
namespace heed {

/// y_ij = sum_l a_il b_lj: [..., n, k] x [..., k, m] -> [..., n, m]; leading sizes broadcast. A vector [k] is
/// a row on the left and a column on the right; the result omits that dimension.
Tensor matmul(Operand a, Operand b);
/// x W^T + b: x [..., in], weight W [out, in], bias b [out] -> [..., out]
Tensor linear(Operand x, Operand weight, Operand bias = {});

namespace detail {
/// Throws unless the last size of a is the second-to-last of b, or the only one of a vector b.
void check_inner(const Tensor& a, const Tensor& b);
/// matmul of matrices, recorded as `op`: [..., n, k] x [..., k, m] -> [..., n, m].
Tensor matrix_product(const char* op, const Operand& a, const Operand& b);
}  // namespace detail

}  // namespace heed
