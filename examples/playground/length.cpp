#include "examples/playground/length.h"

#include <algorithm>
#include <cmath>

#include "examples/playground/message.h"

namespace program {

using namespace heed;

namespace {

constexpr int64_t kLongestSequence = 4096, kWidest = 256, kDecoderHeads = 4;

struct Layers {
  int64_t width;
  RNN chain{width, width};

  // [T, d] -> [T, d]
  Tensor run(int64_t layer, const Tensor& x) const {
    if (layer == 2) return chain(x).output;
    if (layer == 1) return F::scaled_dot_product_attention(x, x, x).output;
    const Tensor scores = matmul(x, transpose(x)) / std::sqrt(static_cast<double>(width));
    return matmul(softmax(scores, -1), x);
  }
};

double multiply_adds(int64_t layer, double T, double d) { return 2 * T * d * (layer == 2 ? d : T); }

// The outputs of writing the tokens x [1, T, d]; the last one.
Tensor last_written(const MultiheadAttention& layer, const Tensor& x, KeyValueCache* cache) {
  Tensor output;
  for (int64_t t = 0; t < x.size(1); ++t) {
    const Tensor read = cache ? narrow(x, 1, t, 1) : narrow(x, 1, 0, t + 1);
    output = layer(read, AttentionOptions(), cache).output;
  }
  return select(select(output, 1, -1), 0, 0);
}

}  // namespace

std::vector<float> length_work(std::span<const float> numbers) {
  RequestReader request("length_work", numbers);
  const int64_t layer = request.integer("layer", 0, 2), T = request.integer("T", 1, kLongestSequence);
  const int64_t d = request.integer("d", 1, kWidest), runs = request.integer("runs", 1, 10000);
  const bool measures = request.integer("memory", 0, 1) == 1;
  request.end();

  manual_seed(1);
  const Layers layers{d};
  const Tensor x = randn({T, d});
  const NoGrad guard;
  Tensor y;
  for (int64_t run = 0; run < runs; ++run) {
    y = Tensor();
    reset_peak_memory();
    y = layers.run(layer, x);
  }
  std::vector<float> answer;
  append(answer, multiply_adds(layer, static_cast<double>(T), static_cast<double>(d)));
  append(answer, measures ? static_cast<double>(memory_use().peak) : 0);
  append(answer, y[T - 1]);
  return answer;
}

std::vector<float> length_decode(std::span<const float> numbers) {
  RequestReader request("length_decode", numbers);
  const int64_t T = request.integer("T", 1, 1024), d = request.integer("d", kDecoderHeads, kWidest);
  const bool cached = request.integer("cache", 0, 1) == 1;
  request.end();

  manual_seed(1);
  const MultiheadAttention layer(d, kDecoderHeads);
  const Tensor x = randn({1, T, d});
  const NoGrad guard;
  KeyValueCache cache;
  const Tensor last = last_written(layer, x, cached ? &cache : nullptr);

  double work = 0;  // a step with n new tokens: 4 n d^2 for the projections, 2 n t d for scores and sums
  const auto width = static_cast<double>(d);
  for (int64_t t = 1; t <= T; ++t) {
    const double length = static_cast<double>(t), read = cached ? 1 : length;
    work += 4 * read * width * width + 2 * read * length * width;
  }
  std::vector<float> answer;
  append(answer, work);
  append(answer, static_cast<double>(2 * cache.length() * d));
  append(answer, last);
  return answer;
}

std::vector<float> length_tiles(std::span<const float> numbers) {
  RequestReader request("length_tiles", numbers);
  const int64_t tile = request.integer("tile", 1, kLongestSequence),
                n = request.integer("n", 1, kLongestSequence);
  const Tensor scores = request.numbers("score", n), values = request.numbers("value", n);
  request.end();

  std::vector<float> answer;
  append(answer, static_cast<double>((n + tile - 1) / tile));
  Tensor m = full({}, -INFINITY, float64), l = full({}, 0, float64), o = full({}, 0, float64);
  for (int64_t begin = 0; begin < n; begin += tile) {
    const int64_t size = std::min(tile, n - begin);
    const Tensor s = narrow(scores, 0, begin, size), v = narrow(values, 0, begin, size);
    const Tensor larger = maximum(m, max(s)), shrink = exp(m - larger), part = exp(s - larger);
    l = l * shrink + sum(part);
    o = o * shrink + sum(part * v);
    m = larger;
    append(answer, m);
    append(answer, l);
    append(answer, o / l);
  }
  append(answer, sum(softmax(scores, 0) * values));
  return answer;
}

std::vector<float> length_work_first() { return {0, 64, 32, 1, 0}; }

std::vector<float> length_decode_first() { return {24, 32, 1}; }

std::vector<float> length_tiles_first() { return {3, 8, 1, 3, 2, 0, 5, 1, 4, 2, 1, 2, 3, 4, 5, 6, 7, 8}; }

}  // namespace program
