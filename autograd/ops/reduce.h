#pragma once

#include <optional>

#include "autograd/operand.h"

/// Reductions: over the given dims, which the result leaves out, or keeps with size 1; no dims at all means
/// all of them. A dim that x does not have is an Error.
namespace heed {

/// The result of max, min, sort and topk along a dimension: values, and their positions in x (int64).
struct ValuesIndices {
  Tensor values;   ///< the elements, with the gradient
  Tensor indices;  ///< where along the dimension they are
};

/// sum_i x_i; that of bool is int64.
Tensor sum(Operand x, Dims dims = {}, bool keepdim = false);
/// sum_i x_i / n; x is floating.
Tensor mean(Operand x, Dims dims = {}, bool keepdim = false);
/// The largest x_i, or NaN; equals share the gradient. Errors: no values.
Tensor amax(Operand x, Dims dims = {}, bool keepdim = false);
/// The smallest x_i, or NaN; equals share the gradient. Errors: no values.
Tensor amin(Operand x, Dims dims = {}, bool keepdim = false);
/// log sum_i exp(x_i), without overflow; x is floating.
Tensor logsumexp(Operand x, Dims dims, bool keepdim = false);
/// sum_i (x_i - mean)^2 / max(0, n - correction); x is floating.
Tensor var(Operand x, Dims dims = {}, double correction = 1, bool keepdim = false);
/// sqrt(var), with the gradient 0 where all x are equal.
Tensor stddev(Operand x, Dims dims = {}, double correction = 1, bool keepdim = false);
// var(x, 0, true) would be a correction of 1
template <std::same_as<bool> Bool>
Tensor var(Operand x, Dims dims, Bool correction, bool keepdim = false) = delete;
template <std::same_as<bool> Bool>
Tensor stddev(Operand x, Dims dims, Bool correction, bool keepdim = false) = delete;
Tensor prod(Operand x);  ///< x_1 x_2 ... of all elements; that of bool is int64
Tensor prod(Operand x, Dim dim, bool keepdim = false);  ///< x_1 x_2 ... along one dimension
Tensor max(Operand x);                                  ///< amax over all dimensions
Tensor min(Operand x);                                  ///< amin over all dimensions
/// The largest along one dimension, and where it is first; the first of equals has the gradient. Errors: no
/// values.
ValuesIndices max(Operand x, Dim dim, bool keepdim = false);
/// The smallest along one dimension, and where it is first; the first of equals has the gradient. Errors: no
/// values.
ValuesIndices min(Operand x, Dim dim, bool keepdim = false);
/// Where the largest is first, int64; without dim: in the flat x. Errors: no values.
Tensor argmax(Operand x, std::optional<Dim> dim = {}, bool keepdim = false);
/// Where the smallest is first, int64; without dim: in the flat x. Errors: no values.
Tensor argmin(Operand x, std::optional<Dim> dim = {}, bool keepdim = false);
/// y_i = x_1 + ... + x_i along one dimension; the shape of x.
Tensor cumsum(Operand x, Dim dim);
/// Whether some element is not 0: bool.
Tensor any(Operand x, Dims dims = {}, bool keepdim = false);
/// Whether no element is 0: bool.
Tensor all(Operand x, Dims dims = {}, bool keepdim = false);
/// Undoes broadcasting: sums x to a shape that broadcasts to its own, an Error otherwise.
Tensor sum_to(Operand x, const Shape& shape);

}  // namespace heed
