// libtorch_bench: Google Benchmark's options, OMP_NUM_THREADS threads.
#include <torch/version.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "bench.h"

namespace {

// The BLAS that libtorch got: Debian lets the administrator choose one, and it decides the products' speed.
std::string loaded_blas() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/libblas") != std::string::npos) return line.substr(line.find('/'));
  }
  return "an unknown BLAS";
}

}  // namespace

int main(int argc, char** argv) {
  if (const char* threads = std::getenv("OMP_NUM_THREADS")) at::set_num_threads(std::atoi(threads));
  if (argc == 2 && std::string(argv[1]) == "--version") {
    std::printf("heed %s beside libtorch %s, %s, %d threads\n", HEED_VERSION, TORCH_VERSION,
                loaded_blas().c_str(), at::get_num_threads());
    return 0;
  }

  bench::add_overhead();
  bench::add_elementwise();
  bench::add_rows();
  bench::add_linear();
  bench::add_models();

  benchmark::AddCustomContext("libtorch", TORCH_VERSION);
  benchmark::AddCustomContext("threads", std::to_string(at::get_num_threads()));
  benchmark::AddCustomContext("blas", loaded_blas());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
