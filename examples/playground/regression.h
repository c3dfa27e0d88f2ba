#pragma once

#include <span>
#include <vector>

/// Bench 1, regression is attention: kernel regression on points that the reader moves.
///
/// In requests, `kernel` is the number of a SmoothingKernel, and `own` is 1 if each point is among its own
/// keys when the loss is computed, 0 if it is left out.
namespace program {

/// One query, the curve of all queries, and the loss.
///
///   request  w, kernel, own, query, low, high, count, w_low, w_high, w_count, n, x [n], y [n]
///   answer   f(query), L(w), dL/dw, weights of the query [n],
///            f [count] at equal distances from low to high,
///            L [w_count] at w of equal ratios from w_low to w_high with the own point, then without it
///
/// L is the mean of (f(x_i) - y_i)^2. dL/dw is 0 for the kernels boxcar and constant, which have no slope.
/// Errors: a number out of range, w_low <= 0.
std::vector<float> regression(std::span<const float> request);

/// Steps of gradient descent on w.
///
///   request  w, kernel, own, learning rate, steps, n, x [n], y [n]
///   answer   w and L(w) before the first step and after each: 2 (steps + 1) numbers
std::vector<float> regression_learn(std::span<const float> request);

/// The first requests of the page: the 50 points of the program kernel_regression and of chapter 1.
std::vector<float> regression_first();
std::vector<float> regression_learn_first();

}  // namespace program
