// Either side's program: Google Benchmark's options, OMP_NUM_THREADS threads.
#include <cstdio>

#include "workload.h"

int main(int argc, char** argv) {
  bench::prepare();
  if (argc == 2 && std::string(argv[1]) == "--version") {
    std::printf("%s\n", bench::about().c_str());
    return 0;
  }
  bench::add_workloads();
  bench::add_second_ways();

  benchmark::AddCustomContext("side", bench::about());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
