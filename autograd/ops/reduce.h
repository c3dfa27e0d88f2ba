#pragma once

#include <optional>

#include "autograd/operand.h"

/// Reductions: the dims are left out, or kept with size 1.
namespace heed {

/// The result of max, min, sort and topk along a dimension: values, and their positions in x (int64).
struct ValuesIndices {
  Tensor values;
  Tensor indices;
};

Tensor sum(Operand x, Dims dims = {}, bool keepdim = false);
Tensor mean(Operand x, Dims dims = {}, bool keepdim = false);
Tensor amax(Operand x, Dims dims = {}, bool keepdim = false);  // ties share the gradient
Tensor amin(Operand x, Dims dims = {}, bool keepdim = false);
Tensor logsumexp(Operand x, Dims dims, bool keepdim = false);  // log sum exp(x), without overflow
Tensor var(Operand x, Dims dims = {}, double correction = 1, bool keepdim = false);  // over n - correction
Tensor std(Operand x, Dims dims = {}, double correction = 1, bool keepdim = false);
// var(x, 0, true) would be a correction of 1
template <std::same_as<bool> Bool>
Tensor var(Operand x, Dims dims, Bool correction, bool keepdim = false) = delete;
template <std::same_as<bool> Bool>
Tensor std(Operand x, Dims dims, Bool correction, bool keepdim = false) = delete;
Tensor prod(Operand x);
Tensor prod(Operand x, Dim dim, bool keepdim = false);
Tensor max(Operand x);
Tensor min(Operand x);
ValuesIndices max(Operand x, Dim dim, bool keepdim = false);  // the first of equals has the gradient
ValuesIndices min(Operand x, Dim dim, bool keepdim = false);
// int64; without dim: of the flat x
Tensor argmax(Operand x, std::optional<Dim> dim = {}, bool keepdim = false);
Tensor argmin(Operand x, std::optional<Dim> dim = {}, bool keepdim = false);
Tensor cumsum(Operand x, Dim dim);
Tensor any(Operand x, Dims dims = {}, bool keepdim = false);  // bool
Tensor all(Operand x, Dims dims = {}, bool keepdim = false);
// Undoes broadcasting: sums x to a shape that broadcasts to its own.
Tensor sum_to(Operand x, const Shape& shape);

}  // namespace heed
