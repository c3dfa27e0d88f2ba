#pragma once

#include "autograd/ops/reduce.h"
#include "tensor/index.h"

/// Indexing: positions are int64.
namespace heed {

Tensor gather(Operand x, int64_t dim, Operand index);        // y[i, j] = x[i, index[i, j]] for dim 1
Tensor index_select(Operand x, int64_t dim, Operand index);  // y[i, j] = x[i, index[j]] for dim 1
Tensor scatter_add(Operand x, int64_t dim, Operand index, Operand src);  // x[i, index[i, j]] += src[i, j]
/// x[{...}]: views for positions, slices and new axes; int64 tensors broadcast to one another and pick, and a
/// bool tensor means the positions of its true elements. The picked dimensions come out where they
/// were, or first when others are between them.
Tensor index(Operand x, const std::vector<Index>& items);
/// Rows of weight [N, E] by index [...]: [..., E]. The row padding_idx has no gradient.
Tensor embedding(Operand weight, Operand index, std::optional<int64_t> padding_idx = {});
Tensor one_hot(Operand index, int64_t num_classes = -1);  // [...] -> [..., C], int64; -1: largest + 1 classes
ValuesIndices topk(Operand x, int64_t k, int64_t dim = -1, bool largest = true);
ValuesIndices sort(Operand x, int64_t dim = -1, bool descending = false);  // stable
Tensor argsort(Operand x, int64_t dim = -1, bool descending = false);

}  // namespace heed
