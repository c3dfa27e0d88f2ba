#pragma once

#include "autograd/dims.h"
#include "autograd/operand.h"

/// Reductions over `dims`, by default over all dimensions. The result omits these dimensions, or has size 1
/// there with keepdim. Throws if x has no such dimension.
namespace heed {

/// sum_i x_i; of bool in int64.
Tensor sum(Operand x, Dims dims = {}, bool keepdim = false);
/// sum_i x_i / n; x is floating.
Tensor mean(Operand x, Dims dims = {}, bool keepdim = false);
/// The largest x_i, or NaN. Equal elements share the gradient. Throws if there are no elements.
Tensor amax(Operand x, Dims dims = {}, bool keepdim = false);
/// The smallest x_i, or NaN. Equal elements share the gradient. Throws if there are no elements.
Tensor amin(Operand x, Dims dims = {}, bool keepdim = false);
Tensor max(Operand x);  ///< amax over all dimensions
Tensor min(Operand x);  ///< amin over all dimensions
/// log sum_i exp(x_i), without overflow; x is floating.
Tensor logsumexp(Operand x, Dims dims, bool keepdim = false);
/// Whether some element is not 0; bool.
Tensor any(Operand x, Dims dims = {}, bool keepdim = false);
/// Whether no element is 0; bool.
Tensor all(Operand x, Dims dims = {}, bool keepdim = false);
/// Undoes broadcasting: sums x to `shape`. Throws unless `shape` broadcasts to the shape of x.
Tensor sum_to(Operand x, const Shape& shape);

namespace detail {
/// A result of a reduction over `dims`, expanded to the shape before the reduction.
Tensor expand_reduced(const Tensor& y, const Shape& shape, const Shape& dims);
/// Throws if one of `dims` has size 0, so that there is no largest element along it.
void check_nonempty(const Operand& x, const Shape& dims);
}  // namespace detail

}  // namespace heed
