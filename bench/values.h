// Whether both sides compute the same. With HEED_BENCH_VALUES=FILE heed's side writes there what its
// workloads start from and what they find; libtorch's side starts from the same values, says beside its
// times how far its results are off, and fails where that is more than rounding. Each workload is to run
// once, so:
//
//   export HEED_BENCH_VALUES=/tmp/values
//   for side in heed libtorch; do ${side}_bench --benchmark_min_time=0 --benchmark_filter=mha_step/; done
//
// The file is every tensor's values one behind the other; before those of one call their number of bytes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace bench {

inline bool comparing() { return std::getenv("HEED_BENCH_VALUES") != nullptr; }

// Opened by the first call.
inline std::FILE* values_file(const char* mode) {
  static std::FILE* const file = std::fopen(std::getenv("HEED_BENCH_VALUES"), mode);
  if (file == nullptr) throw std::runtime_error("HEED_BENCH_VALUES cannot be opened");
  return file;
}

inline void write_values(const void* data, size_t bytes) {
  if (std::fwrite(data, 1, bytes, values_file("wb")) != bytes || std::fflush(values_file("wb")) != 0)
    throw std::runtime_error("HEED_BENCH_VALUES cannot be written");
}

inline void read_values(void* data, size_t bytes) {
  if (std::fread(data, 1, bytes, values_file("rb")) != bytes)
    throw std::runtime_error("HEED_BENCH_VALUES ends too soon: heed's side ran other workloads");
}

}  // namespace bench
