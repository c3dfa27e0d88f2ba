#include "tensor/kernels/level.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace heed::kernel {

#if defined(HEED_LEVELS)

// Made by cmake/levels.cmake: the addresses of all kernels, as they are called and of each level.
extern "C" {
extern const void* heed_kernels[];
extern const void* const heed_kernels_v2[];
extern const void* const heed_kernels_v3[];
extern const void* const heed_kernels_v4[];
extern const int64_t heed_kernel_count;
}

static int best_level() {
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return !v3 ? 2 : v4 ? 4 : 3;
}

// Ends the program if HEED_LEVEL cannot be had: it is asked for in tests, which must not run at another.
static int chosen_level() {
  const int best = best_level();
  const char* const asked = std::getenv("HEED_LEVEL");
  if (!asked || !*asked) return best;
  for (const int level : {2, 3, 4})
    if (asked == "v" + std::to_string(level) && level <= best) return level;
  constexpr const char* kLevels[] = {"v2", "v2 and v3", "v2, v3 and v4"};
  std::fprintf(stderr, "HEED_LEVEL is \"%s\"; this processor has %s\n", asked, kLevels[best - 2]);
  std::_Exit(2);
}

int level = 2;

// Runs before any variable is initialised, since that may call kernels.
[[gnu::constructor(101)]] static void choose_level() {
  level = chosen_level();
  const void* const* const kernels[] = {heed_kernels_v2, heed_kernels_v3, heed_kernels_v4};
  std::copy_n(kernels[level - 2], heed_kernel_count, heed_kernels);
}

std::string level_info() { return "x86-64-v" + std::to_string(level); }

#else

std::string level_info() {
#if defined(__AVX512F__)
  return "built for x86-64-v4";
#elif defined(__AVX2__) && defined(__FMA__)
  return "built for x86-64-v3";
#elif defined(__SSE4_2__)
  return "built for x86-64-v2";
#elif defined(__aarch64__)
  return "built for aarch64";
#else
  return "built for any processor";
#endif
}

#endif

}  // namespace heed::kernel
