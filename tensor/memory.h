#pragma once

#include <cstddef>

/// Memory for tensors and graphs: a caching allocator that counts what is in use.
namespace heed {

/// Allocates a block with 64-byte alignment. Released blocks are cached by size and reused, because touching
/// a fresh page costs more than the arithmetic on it. Small blocks are cached per thread without a lock;
/// blocks of 64 KiB and more are shared. A block may be released by another thread. With HEED_NO_CACHE=1 in
/// the environment, and under AddressSanitizer, all blocks come from malloc. Throws Error if the system has
/// no more memory.
void* allocate(size_t bytes);

/// Releases a block; `bytes` is the size passed to allocate().
void release(void* block, size_t bytes) noexcept;

/// Returns cached, unused memory to the system.
void release_cached_memory() noexcept;

/// Bytes allocated and not yet released: values of tensors with about 300 bytes of bookkeeping each, graphs,
/// and workspaces of kernels.
struct MemoryUse {
  size_t live;  ///< now
  size_t peak;  ///< maximum since the last reset; may miss up to 64 KiB of small blocks per thread
};
/// The memory use of all threads.
MemoryUse memory_use() noexcept;
/// Sets the peak to the live bytes.
void reset_peak_memory() noexcept;

}  // namespace heed
