#pragma once

#include <algorithm>
#include <cstdint>

/// Parallel loops.
namespace heed {

/// The number of threads that kernels use, at least 1, the same for the whole process. The threads are
/// OpenMP's; the initial number comes from OMP_NUM_THREADS. Built without OpenMP, all loops run in one
/// thread.
int num_threads();
/// Sets the number of threads, 1 to 1024.
void set_num_threads(int threads);

namespace detail {
void run_blocks(int64_t blocks, void (*body)(const void*, int64_t), const void* context);
}

/// Calls body(begin, end) for [0, n) cut into blocks of `block` items; the last may be shorter. Runs in the
/// calling thread if there is one block or one thread, or inside another parallel loop. If blocks throw, the
/// exception of the lowest one is rethrown.
///
/// Note [Same bits]: results must not depend on the number of threads. The bounds of blocks follow from sizes
/// alone, one thread computes each block from start to end, and partial results are combined in block order.
/// Heed's own matrix products may be cut anywhere, because the bits of an element depend only on its row and
/// column. OpenBLAS is called with one thread inside such blocks, because it changes the order of sums when
/// it uses several.
void parallel_for(int64_t n, int64_t block, auto&& body) {
  if (n <= 0) return;
  const int64_t blocks = (n + block - 1) / block;
  if (blocks == 1) return body(int64_t{0}, n);
  const auto one = [&](int64_t i) { body(i * block, std::min(n, (i + 1) * block)); };
  const auto run = [](const void* context, int64_t i) { (*static_cast<decltype(one)*>(context))(i); };
  detail::run_blocks(blocks, run, &one);
}

}  // namespace heed
