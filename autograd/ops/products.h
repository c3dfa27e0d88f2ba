#pragma once

#include "autograd/operand.h"

/// Products of given ranks, and einsum. Throws for other ranks, for inner sizes that differ and for different
/// dtypes.
namespace heed {

Tensor mm(Operand a, Operand b);     ///< two matrices: [n, k] x [k, m] -> [n, m]
Tensor bmm(Operand a, Operand b);    ///< two batches of matrices: [B, n, k] x [B, k, m] -> [B, n, m]
Tensor mv(Operand a, Operand b);     ///< y_i = sum_l a_il b_l: [n, k] x [k] -> [n]
Tensor dot(Operand a, Operand b);    ///< sum_l a_l b_l: [k] x [k] -> a scalar
Tensor outer(Operand a, Operand b);  ///< y_ij = a_i b_j: [n] x [m] -> [n, m]
/// beta x + alpha a b for matrices a [n, k] and b [k, m]; x broadcasts to [n, m] and is ignored for beta = 0.
Tensor addmm(Operand x, Operand a, Operand b, double beta = 1, double alpha = 1);
/// Sums of products by named dimensions: "bij,bjk->bik" is bmm, "ii->" the trace. Dimensions that the result
/// does not name are summed over. Without an arrow the result has the letters that occur once, in
/// alphabetical order.
/// "..." covers dimensions without a letter; sizes of 1 broadcast. Throws for a malformed equation, or one
/// that does not fit the shapes.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands,
              SourceLocation line = SourceLocation::current());

}  // namespace heed
