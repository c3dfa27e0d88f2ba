#pragma once

#include "autograd/ops/reduce.h"
#include "tensor/index.h"

/// Indexing: positions are int64, and one outside of its dimension is an Error.
namespace heed {

/// One element of x for each of the index: y[i, j] = x[i, index[i, j]] for dim 1. The index has the rank of x
/// and is nowhere larger outside of `dim`; the result has its shape.
Tensor gather(Operand x, int64_t dim, Operand index);
/// Whole slices of x: y[i, j] = x[i, index[j]] for dim 1. The index is a vector; its length takes the place
/// of x's size along `dim`.
Tensor index_select(Operand x, int64_t dim, Operand index);
/// x with x[i, index[i, j]] += src[i, j] for dim 1, for all i and j; a new tensor. Shapes of the index as in
/// gather, and no larger than src.
Tensor scatter_add(Operand x, int64_t dim, Operand index, Operand src);
/// x[{...}]: views for positions, slices and new axes; int64 tensors broadcast to one another and pick, and a
/// bool tensor means the positions of its true elements. The picked dimensions come out where they
/// were, or first when others are between them.
Tensor index(Operand x, const std::vector<Index>& items);
/// Rows of weight [N, E] by index [...]: [..., E]. The row padding_idx has no gradient.
Tensor embedding(Operand weight, Operand index, std::optional<int64_t> padding_idx = {});
/// 1 at the position that the index names, else 0: [...] -> [..., C], int64. C = num_classes; -1 stands for
/// the largest index + 1. Errors: an index below 0 or not below C.
Tensor one_hot(Operand index, int64_t num_classes = -1);
/// The k largest along `dim`, or the smallest, in order: the size of `dim` becomes k. Errors: k above that
/// size.
ValuesIndices topk(Operand x, int64_t k, int64_t dim = -1, bool largest = true);
/// x in order along `dim`, equals in the order they had; the shape of x.
ValuesIndices sort(Operand x, int64_t dim = -1, bool descending = false);
/// The indices of sort, without a gradient.
Tensor argsort(Operand x, int64_t dim = -1, bool descending = false);

}  // namespace heed
