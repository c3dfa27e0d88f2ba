#pragma once

#include <span>
#include <vector>

/// Bench 6, length: what long sequences cost. JavaScript has the clock and measures how long a call takes.
namespace program {

/// One forward pass of a layer over T random vectors of width d, some times.
///
///   request  layer: 0 attention with all weights kept, 1 attention in tiles, 2 a recurrent chain (RNN);
///            T, d, runs, 1 if memory is measured
///   answer   multiply-adds of one run: 2 T^2 d for attention, 2 T d^2 for the chain;
///            the most bytes in use during the last run, or 0; the last output [d]
///
/// Errors: a number out of range (T up to 4096, d up to 256).
std::vector<float> length_work(std::span<const float> request);

/// Writing T tokens one after the other: one layer of attention with 4 heads of width d / 4, which asks with
/// the newest token. With a cache a step projects that token alone; without one it projects and attends for
/// all tokens so far.
///
///   request  T, d, 1 with a cache
///   answer   multiply-adds of all steps, numbers in the cache at the end, the last output [d]
///
/// The output is the same with and without the cache. Errors: a number out of range, d not divisible by 4.
std::vector<float> length_decode(std::span<const float> request);

/// Softmax attention of one query in tiles: the running maximum m, the sum l of exp(s - m), and the weighted
/// sum o of the values, as after each tile.
///
///   request  tile, n, scores [n], values [n]
///   answer   count of tiles; for each: m, l, o / l; at the end softmax(scores) . values, all at once
std::vector<float> length_tiles(std::span<const float> request);

std::vector<float> length_work_first();
std::vector<float> length_decode_first();
std::vector<float> length_tiles_first();

}  // namespace program
