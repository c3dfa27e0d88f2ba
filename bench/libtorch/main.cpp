// libtorch_bench: Google Benchmark's options, OMP_NUM_THREADS threads.
#include <torch/version.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "bench.h"

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

int main(int argc, char** argv) {
  if (const char* threads = std::getenv("OMP_NUM_THREADS")) at::set_num_threads(std::atoi(threads));
  if (argc == 2 && std::string(argv[1]) == "--version") {
    std::printf("heed %s beside libtorch %s, %s, %s, %d threads\n", HEED_VERSION, TORCH_VERSION,
                loaded_blas().c_str(), configured("CPU capability").c_str(), at::get_num_threads());
    return 0;
  }

  bench::add_overhead();
  bench::add_elementwise();
  bench::add_rows();
  bench::add_linear();
  bench::add_models();
  bench::add_attention();
  bench::add_seq2seq();
  bench::add_gpt();

  benchmark::AddCustomContext("libtorch", TORCH_VERSION);
  benchmark::AddCustomContext("threads", std::to_string(at::get_num_threads()));
  benchmark::AddCustomContext("blas", loaded_blas());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
