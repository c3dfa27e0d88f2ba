#pragma once

#include <span>
#include <vector>

/// Bench 3, four tokens: self-attention with every matrix between the words and the output.
namespace program {

/// Self-attention of T tokens with vectors of width d; queries and keys have the width d_k, values d_v.
///
///   request  heads (1 or 2), positions (0 or 1), T, d, d_k, d_v,
///            X [T, d], W_Q, W_K [d, d_k], W_V [d, d_v], W_O [d_v, d], allowed [T, T]
///   answer   X with positions [T, d]; Q = X W_Q, K = X W_K [T, d_k]; V = X W_V [T, d_v];
///            S = Q K^T / sqrt(d_k / heads) of each head [heads, T, T]; A = softmax(S) [heads, T, T];
///            Z = A V, the heads side by side [T, d_v]; Y = Z W_O [T, d]
///
/// positions: 1 adds sines and cosines of the position to X. allowed: 1 if the query of the row may attend to
/// the key of the column, otherwise 0; a query that may attend to nothing has weights 0. Scores are those
/// without the mask. Errors: a number out of range (T and d up to 16, d_k and d_v up to 64), d_k or d_v not
/// divisible by the heads.
std::vector<float> tokens(std::span<const float> request);

/// Four words as arrows in the plane, which attend to all.
std::vector<float> tokens_first();

}  // namespace program
