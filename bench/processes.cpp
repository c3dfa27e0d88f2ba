// The best time of a training step of a GPT on the processes that mpirun started: processes small|large.
#include <heed/distributed.h>

#include <chrono>
#include <cstdio>
#include <string_view>

#include "gpt.h"

int main(int argc, char** argv) {
  const std::string_view size = argc > 1 ? argv[1] : "";
  if (size != "small" && size != "large") {
    std::fputs("usage: processes small|large\n", stderr);
    return 2;
  }
  const bool small = size == "small";
  const bench::Gpt::Options o = small ? bench::Gpt::Options{128, 4, 3, 64} : bench::Gpt::Options{};
  const int64_t rows = small ? 16 : 8;
  heed::Processes all;
  heed::manual_seed(1);
  bench::Gpt model(o);
  heed::AdamW adam(model.parameters(), {.lr = 1e-3});
  const heed::Tensor x = heed::randint(0, o.words, {rows, o.length});
  const heed::Tensor labels = heed::randint(0, o.words, {rows, o.length});
  double best = INFINITY;
  for (int step = 0; step < (small ? 100 : 24); ++step) {  // the first 12 choose between two ways to send
    const auto start = std::chrono::steady_clock::now();
    all.backward(rows, model.parameters(), [&](int64_t from, int64_t to) {
      const auto part = [&](const heed::Tensor& all_rows) { return narrow(all_rows, 0, from, to - from); };
      return heed::ShardLoss{heed::F::cross_entropy(model(part(x)), part(labels), {.class_dim = -1}),
                             to - from};
    });
    adam.step();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  if (all.first()) std::printf("%.1f\n", best);
}
