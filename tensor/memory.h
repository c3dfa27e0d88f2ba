#pragma once

#include <cstddef>

/// Where memory comes from, and how much is in use.
namespace heed {

/// Blocks of memory that are kept and given out again, sorted by size class, because a fresh page costs more
/// than the arithmetic done on it. Every block is 64-byte aligned. Small classes are cached per thread
/// without a lock; large ones are shared. A block may be released on another thread than it came from.
/// With HEED_NO_CACHE=1 in the environment, and under AddressSanitizer, every block is malloc's own.
void* allocate(size_t bytes);

/// Gives a block back; `bytes` is what was asked for.
void release(void* block, size_t bytes) noexcept;

/// Returns what is cached and unused to the system.
void release_cached_memory() noexcept;

/// Bytes that allocate() has handed out and nobody has released: the values of tensors and some 300 bytes of
/// bookkeeping for each, graphs, buffers of running kernels. `peak` is the most there has been since the last
/// reset; of blocks below 64 KiB it may miss 64 KiB in each thread.
struct MemoryUse {
  size_t live;  ///< now
  size_t peak;  ///< at most, since the last reset
};
MemoryUse memory_use() noexcept;    ///< of all threads
void reset_peak_memory() noexcept;  ///< the peak becomes what is live

}  // namespace heed
