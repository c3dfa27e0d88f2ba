// heed_bench: Google Benchmark's options, OMP_NUM_THREADS threads.
#include <cstdio>
#include <string>

#include "tensor/version.h"
#include "workload.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--version") {
    std::printf("%s\n", heed::build_info().c_str());
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

  benchmark::AddCustomContext("heed", heed::build_info());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
