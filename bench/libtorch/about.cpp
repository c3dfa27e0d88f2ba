// What libtorch's side says of itself, and what it can do in a second way of its own.
#include <torch/version.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "bench.h"

namespace bench {

void mha_step_nnmodule(State& state, int64_t batch, int64_t length, int64_t width, int64_t heads);
void attention_long_atsdpa(State& state, int64_t length, bool is_causal);
void transformer_seq2seq_step_nnmodule(State& state);

namespace {

// A line of libtorch's description of itself, from `start` on.
std::string configured(const char* start) {
  const std::string all = at::show_config();
  const size_t begin = std::min(all.find(start), all.size());
  return all.substr(begin, all.find('\n', begin) - begin);
}

// The BLAS that libtorch got: Debian lets the administrator choose one, and it decides the products' speed.
// PyTorch's own has MKL in it.
std::string loaded_blas() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/libblas") != std::string::npos) return line.substr(line.find('/'));
  }
  const std::string mkl = configured("Intel(R) oneAPI Math Kernel");
  return mkl.substr(0, mkl.find("-Product"));
}

}  // namespace

std::string about() {
  return std::string("heed ") + HEED_VERSION + " beside libtorch " + TORCH_VERSION + ", " + loaded_blas() +
         ", " + configured("CPU capability") + ", " + std::to_string(at::get_num_threads()) + " threads";
}

void add_second_ways() {
  if (const char* threads = std::getenv("OMP_NUM_THREADS")) at::set_num_threads(std::atoi(threads));
  const auto add_heads = [](const std::string& size, int64_t batch, int64_t length, int64_t width,
                            int64_t heads) {
    add("mha_step_nnmodule/" + size, [=](State& state) {
      mha_step_nnmodule(state, batch, length, width, heads);
    })->Unit(benchmark::kMillisecond);
  };
  add_heads("64x32x128h4", 64, 32, 128, 4);
  add_heads("32x64x256h8", 32, 64, 256, 8);
  add_heads("8x256x512h8", 8, 256, 512, 8);
#if TORCH_VERSION_MAJOR < 2
  for (const bool is_causal : {false, true})
    for (const int64_t length : {512, 1024, 2048, 4096, 8192})
      add(std::string("attention_long_atsdpa/") + (is_causal ? "causal/" : "full/") + std::to_string(length),
          [=](State& state) { attention_long_atsdpa(state, length, is_causal); })
          ->Unit(benchmark::kMillisecond);
#endif
  add("transformer_seq2seq_step_nnmodule/small", transformer_seq2seq_step_nnmodule)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace bench
