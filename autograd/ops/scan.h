#pragma once

#include "autograd/dims.h"
#include "autograd/operand.h"

/// Running sums, products, and other scans; also what attention with a state is computed with. Throws if x
/// has no such dimension.
namespace heed::detail {

/// associative_scan of several tensors by a function of lists.
auto scan(
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&, const std::vector<Tensor>&)>& combine,
    std::vector<Tensor> xs, int64_t dim, bool reverse, SourceLocation line) -> std::vector<Tensor>;

}  // namespace heed::detail

namespace heed {

/// y_i = x_1 + ... + x_i along one dimension; the shape of x.
Tensor cumsum(Operand x, Dim dim);
/// y_i = x_1 x_2 ... x_i along one dimension; the shape of x, of bool in int64.
Tensor cumprod(Operand x, Dim dim);
Tensor prod(Operand x);                                 ///< x_1 x_2 ... of all elements; of bool in int64
Tensor prod(Operand x, Dim dim, bool keepdim = false);  ///< x_1 x_2 ... along one dimension
/// y_1 = x_1, y_i = combine(y_{i-1}, x_i) along one dimension, for an associative function of two tensors:
///
///   associative_scan([](const Tensor& a, const Tensor& b) { return maximum(a, b); }, x, 1)
///
/// combine is called with many positions at once and works position by position: its arguments and its result
/// have the shape of x, except for the size of `dim`. It is called at most 2 log2(n) times, with at most 2 n
/// positions altogether (Blelloch, 1990). `reverse` begins with the last position. Differentiable if combine
/// is.
Tensor associative_scan(const auto& combine, Operand x, Dim dim, bool reverse = false) {
  const auto of_lists = [&](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return std::vector<Tensor>{combine(a[0], b[0])};
  };
  return detail::scan(of_lists, {x.tensor()}, dim, reverse, x.line())[0];
}
/// The same with several tensors as one element, of one size along `dim`. The recurrence h_i = a_i h_{i-1} +
/// b_i from h_0 = 0 is the second tensor of a scan of {a, b}:
///
///   combine({a, b}, {c, d}) = {a c, c b + d}
std::vector<Tensor> associative_scan(const auto& combine, const std::vector<Tensor>& xs, Dim dim,
                                     bool reverse = false, SourceLocation line = SourceLocation::current()) {
  return detail::scan(combine, xs, dim, reverse, line);
}

/// All states of a recurrence: y_0 = start, y_{t+1} = factor_t y_t + x_t.
///
///   factor   [..., n, k, k]: a matrix for each step; or [..., n, k, 1] or [..., n, 1, 1]: numbers that
///            multiply the rows of y. As many dimensions as x; those before n may be 1
///   x        [..., n, k, m]
///   start    [..., k, m]; 0 if omitted
///   returns  [..., n + 1, k, m]
///
/// Throws for other shapes and for different dtypes; operands are floating.
Tensor linear_recurrence(Operand factor, Operand x, Operand start = {});
/// (I + L)^-1, where L is what x has below its diagonal; the rest of x is ignored. x [..., n, n], the shape
/// of the result. Throws for other shapes, and unless x is floating.
Tensor unit_lower_inverse(Operand x);

}  // namespace heed
