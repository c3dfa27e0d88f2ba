#pragma once

#include <span>
#include <vector>

/// Bench 3, four tokens: every matrix between the words and the outputs of self-attention.
namespace program {

/// Self-attention, all its steps.
///
///   request  heads, positions, T, d, X [T, d], W_Q, W_K, W_V, W_O [d, d] each, allowed [T, T]
///   answer   X with positions [T, d], Q, K, V [T, d], scores S [heads, T, T], divided by the root of a
///   head's
///            width, weights A [heads, T, T], Z = A V [T, d] (the heads side by side), Y = Z W_O [T, d]
///
/// allowed is 1 if the query of the row may attend to the key of the column, else 0; S does not depend on it.
/// If positions is 1, sines and cosines are added to X: of position p, sin(p / 10000^(2i/d)) to number 2i and
/// the cosine to number 2i + 1. Errors: a number out of range, heads that do not divide d.
std::vector<float> tokens(std::span<const float> request);

/// The first request of the page.
std::vector<float> tokens_first();

}  // namespace program
