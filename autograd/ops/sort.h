#pragma once

#include "autograd/dims.h"
#include "autograd/operand.h"

/// Elements by order: the largest, the k largest, all sorted. Throws if x has no such dimension.
namespace heed {

/// Elements of x, and their positions along a dimension (int64).
struct ValuesIndices {
  Tensor values;   ///< the elements; the gradient flows through them
  Tensor indices;  ///< their positions
};

/// The largest element along one dimension and its first position, whose element has the gradient. Throws if
/// there are no elements.
ValuesIndices max(Operand x, Dim dim, bool keepdim = false);
/// The smallest element along one dimension and its first position, whose element has the gradient. Throws if
/// there are no elements.
ValuesIndices min(Operand x, Dim dim, bool keepdim = false);
/// The first position of the largest element, int64; without dim in the flattened x. Throws if there are no
/// elements.
Tensor argmax(Operand x, std::optional<Dim> dim = {}, bool keepdim = false);
/// The first position of the smallest element, int64; without dim in the flattened x. Throws if there are no
/// elements.
Tensor argmin(Operand x, std::optional<Dim> dim = {}, bool keepdim = false);
/// The k largest elements along `dim`, or the smallest, in order: the size of `dim` becomes k. Throws if k
/// exceeds that size.
ValuesIndices topk(Operand x, int64_t k, int64_t dim = -1, bool largest = true);
/// x sorted along `dim`; equal elements keep their order.
ValuesIndices sort(Operand x, int64_t dim = -1, bool descending = false);
/// The indices of sort, without a gradient.
Tensor argsort(Operand x, int64_t dim = -1, bool descending = false);

}  // namespace heed
