#pragma once

#include <span>
#include <vector>

/// Bench 3, four tokens: self-attention with every matrix between the words and the output.
namespace program {

/// Self-attention of T tokens with vectors of width d.
///
///   request  heads (1 or 2), positions (0 or 1), T, d, X [T, d], W_Q, W_K, W_V, W_O [d, d] each,
///            allowed [T, T]
///   answer   X with positions [T, d]; Q = X W_Q, K = X W_K, V = X W_V [T, d];
///            S = Q K^T / sqrt(d / heads) of each head [heads, T, T]; A = softmax(S) [heads, T, T];
///            Z = A V, the heads side by side [T, d]; Y = Z W_O [T, d]
///
/// positions: 1 adds sines and cosines of the position to X. allowed: 1 if the query of the row may attend to
/// the key of the column, otherwise 0; a query that may attend to nothing has weights 0. Scores are those
/// without the mask. Errors: a number out of range, d not divisible by the heads.
std::vector<float> tokens(std::span<const float> request);

/// Four words as arrows in the plane, which attend to all.
std::vector<float> tokens_first();

}  // namespace program
