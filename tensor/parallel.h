#pragma once

#include <algorithm>
#include <cstdint>

/// Threads.
namespace heed {

/// Threads that kernels may use, at least 1, in the whole process. The pool is OpenMP's; OMP_NUM_THREADS sets
/// the start value.
int num_threads();
/// Sets that number, 1 to 1024.
void set_num_threads(int threads);

/// The numbers a loop computes must not depend on how many threads share it.
///
/// Note [Same bits]: work is cut into blocks whose bounds follow from the sizes alone, each block is computed
/// by one thread from start to end, and partial results are joined in block order. Heed's own products may be
/// cut anywhere, since a number's bits depend on its row and column alone. OpenBLAS is called with one thread
/// inside such blocks, because its own splitting changes the order of sums.
namespace detail {
void run_blocks(int64_t blocks, void (*body)(void*, int64_t), void* context);
}

/// Calls body(begin, end) for [0, n) cut into blocks of `block` items (the last may be shorter).
/// Runs in the calling thread when there is one block, one thread, or a parallel loop around it already.
template <class Body>
void parallel_for(int64_t n, int64_t block, Body&& body) {
  if (n <= 0) return;
  const int64_t blocks = (n + block - 1) / block;
  if (blocks == 1) return body(int64_t{0}, n);
  const auto one = [&](int64_t i) { body(i * block, std::min(n, (i + 1) * block)); };
  detail::run_blocks(
      blocks, [](void* context, int64_t i) { (*static_cast<decltype(one)*>(context))(i); },
      const_cast<void*>(static_cast<const void*>(&one)));
}

}  // namespace heed
