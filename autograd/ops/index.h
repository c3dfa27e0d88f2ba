#pragma once

#include "autograd/operand.h"
#include "tensor/index.h"

/// Indexing. Positions are int64; one that is out of range throws.
namespace heed {

/// For each position in the index one element: y[i, j] = x[i, index[i, j]] for dim 1. The index has the rank
/// of x and is not larger than x in the other dimensions; the result has its shape.
Tensor gather(Operand x, int64_t dim, Operand index);
/// For each position in the index, a vector, one slice: y[i, j] = x[i, index[j]] for dim 1. The size of `dim`
/// becomes the length of the index.
Tensor index_select(Operand x, int64_t dim, Operand index);
/// A copy of x with x[i, index[i, j]] += src[i, j] for dim 1 and all i and j. Shapes of the index as in
/// gather, and not larger than src.
Tensor scatter_add(Operand x, int64_t dim, Operand index, Operand src);
/// A copy of x with x[i, index[i, j]] = src[i, j] for dim 1 and all i and j; the last of equal positions
/// counts. Shapes as in scatter_add, or src is a number.
Tensor scatter(Operand x, int64_t dim, Operand index, Operand src);
/// A copy of x with x[i, index[j]] += alpha src[i, j] for dim 1: the transpose of index_select. In `dim`, src
/// has the length of the index, a vector, and elsewhere the sizes of x.
Tensor index_add(Operand x, int64_t dim, Operand index, Operand src, Scalar alpha = 1);
/// The elements of x where the mask is true, as a vector; the mask is bool and broadcasts with x.
Tensor masked_select(Operand x, Operand mask);
/// The positions of the elements that are not 0: for n of them int64 [n, number of dimensions].
Tensor nonzero(Operand x);
/// Each slice along `dim`, or each element of the flattened x, several times in a row. `repeats` is a number,
/// or an int64 vector with one for each slice.
Tensor repeat_interleave(Operand x, Operand repeats, std::optional<int64_t> dim = {});
/// Of a matrix the elements x[i, i + diagonal], of a vector the matrix that has it there and 0 elsewhere.
Tensor diag(Operand x, int64_t diagonal = 0);
/// x[{...}]. Positions, slices and new axes give views. int64 tensors broadcast against each other and pick
/// elements; a bool tensor is the positions of its true elements. The picked dimensions replace those that
/// they index, or come first if other dimensions are between these.
Tensor index(Operand x, const std::vector<Index>& items);
/// Rows of weight [N, E] by index [...]: [..., E]. The row padding_idx has no gradient.
Tensor embedding(Operand weight, Operand index, std::optional<int64_t> padding_idx = {});
/// 1 at the position given by the index, else 0: [...] -> [..., C], int64. C = num_classes, or for -1 the
/// largest index + 1. Throws unless 0 <= index < C.
Tensor one_hot(Operand index, int64_t num_classes = -1);

}  // namespace heed
