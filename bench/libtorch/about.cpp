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

void prepare() {
  if (const char* threads = std::getenv("OMP_NUM_THREADS")) at::set_num_threads(std::atoi(threads));
}

void add_second_ways() {
  add_heads("mha_step_nnmodule", mha_step_nnmodule);
#if TORCH_VERSION_MAJOR < 2
  add_long("attention_long_atsdpa", attention_long_atsdpa);
#endif
  add("transformer_seq2seq_step_nnmodule/small", transformer_seq2seq_step_nnmodule)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace bench
