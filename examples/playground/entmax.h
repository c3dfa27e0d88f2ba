#pragma once

#include <heed.h>

/// A normalizer that heed does not have, as a program adds one.
namespace program {

/// 1.5-entmax, between softmax and sparsemax: max(s_j / 2 - t, 0)^2 with t such that the row sums to 1
/// (Peters, Niculae and Martins 2019). Weights far below the largest are exactly 0.
///
///   scores   [..., n], finite
///   returns  same shape
heed::Tensor entmax(const heed::Tensor& scores);

}  // namespace program
