#include "tensor/memory.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include "tensor/error.h"
#include "tensor/preallocated_set.h"

namespace heed {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLargeBytes = size_t{1} << 16;  // blocks of this size or more are pieces of shared chunks
constexpr size_t kHugePage = size_t{2} << 20;
// With 64 bits a chunk takes only addresses: a page takes memory once it is touched.
constexpr size_t kChunk = size_t{sizeof(void*) == 8 ? 256 : 4} << 20;
constexpr size_t kMaxCachedPerThread = size_t{1} << 22;
constexpr size_t kMaxCachedShared = size_t{1} << 30;

#if defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

bool cache_enabled() {
  static const bool enabled = !kSanitized && std::getenv("HEED_NO_CACHE") == nullptr;
  return enabled;
}

// A hint to the system about whole pages, where it takes one: to make them huge, or to take them back.
void advise_pages([[maybe_unused]] void* begin, [[maybe_unused]] size_t bytes, [[maybe_unused]] bool used) {
#if defined(__linux__)
  madvise(begin, bytes, used ? MADV_HUGEPAGE : MADV_DONTNEED);
#endif
}

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Size classes of small blocks: multiples of 64 bytes up to 1024, then four for each power of two: 1280,
// 1536, 1792, 2048, 2560, ... There, neighboring classes are 2^shift bytes apart.
struct SizeClass {
  size_t index, bytes;
};
constexpr size_t kClasses = 16 + 4 * 6;

SizeClass class_of(size_t bytes) {
  const size_t last = std::max<size_t>(bytes, 1) - 1;
  if (last < 1024) return {last / 64, last / 64 * 64 + 64};
  const auto shift = static_cast<size_t>(std::bit_width(last) - 3);
  const size_t step = last >> shift;
  return {16 + 4 * (shift - 8) + step % 4, (step + 1) << shift};
}

// Free blocks of one size class form a list through their own memory.
struct FreeBlock {
  FreeBlock* next;
};
using FreeLists = std::array<FreeBlock*, kClasses>;

void push(FreeBlock*& head, void* block) { head = new (block) FreeBlock{head}; }

void* pop(FreeBlock*& head) { return head ? std::exchange(head, head->next) : nullptr; }

void free_all(FreeLists& lists) noexcept {
  for (FreeBlock*& head : lists)
    while (void* block = pop(head)) std::free(block);
}

// The small blocks that one thread keeps. This is plain data, so that access needs no initialization check.
// `capacity` and `max_unsettled` are 0 before the first release and after the thread has ended, because
// destructors of other thread_local objects may release tensors then.
struct ThreadCache {
  FreeLists lists;
  size_t capacity;                 // bytes that may still be added
  int64_t max_unsettled;           // above this, `unsettled` is added to live_bytes
  std::atomic<int64_t> unsettled;  // bytes allocated minus bytes released; written by its own thread only
  ThreadCache* next;               // list of open caches
  enum { fresh, open, closed } state;
};
thread_local constinit ThreadCache thread_cache{};

// Pieces of memory, ordered by size and then by address.
struct Piece {
  size_t bytes;
  char* begin;
  char* end() const { return begin + bytes; }
  auto operator<=>(const Piece&) const = default;
};
using ByAddress = decltype([](const Piece& a, const Piece& b) { return a.begin < b.begin; });

// The free pieces of large memory. A request takes the smallest piece that fits and leaves the rest; free
// neighbors are merged. So large blocks freed by the forward pass serve smaller requests of the backward
// pass.
class FreePieces {
 public:
  // Allocates the nodes for the next take() or add(), for the release of everything taken, and for trim(): a
  // released block adds at most one piece, and so does a freed chunk. May throw; the others do not.
  void reserve() {
    const size_t pieces = taken_ + chunks_.values().size() + 4;
    by_address_.reserve(pieces);
    by_size_.reserve(pieces);
    chunks_.reserve(1);
  }
  // Adds a chunk from the system and takes its first bytes.
  void add(const Piece& chunk, size_t bytes) noexcept {
    ++taken_;
    chunks_.insert(chunk);
    put({chunk.bytes - bytes, chunk.begin + bytes});
  }
  // Returns null if no piece is large enough.
  char* take(size_t bytes) noexcept {
    const auto fit = by_size_.values().lower_bound({bytes, nullptr});
    if (fit == by_size_.values().end()) return nullptr;
    ++taken_;
    cached_ -= std::min(cached_, bytes);
    const Piece piece = *fit;
    remove(piece);
    put({piece.bytes - bytes, piece.begin + bytes});
    return piece.begin;
  }
  void give_back(const Piece& piece) noexcept {
    --taken_;
    put(piece);
    cached_ += piece.bytes;
    if (cached_ > kMaxCachedShared) trim();
  }
  // Frees chunks that are entirely free. Of the other free pieces it returns the memory to the system and
  // keeps the addresses.
  void trim() noexcept {
    cached_ = 0;
    for (auto next = chunks_.values().begin(); next != chunks_.values().end();) {
      const Piece chunk = *next++;
      const auto after = by_address_.values().upper_bound(chunk);
      if (after == by_address_.values().begin()) continue;
      const Piece piece = *std::prev(after);
      if (piece.end() < chunk.end()) continue;
      remove(piece);
      put({static_cast<size_t>(chunk.begin - piece.begin), piece.begin});
      put({static_cast<size_t>(piece.end() - chunk.end()), chunk.end()});
      chunks_.erase(chunk);
      std::free(chunk.begin);
    }
    for (const Piece& piece : by_address_.values()) {
      const auto address = reinterpret_cast<uintptr_t>(piece.begin);
      const size_t first = round_up(address, kHugePage);
      const size_t last = (address + piece.bytes) / kHugePage * kHugePage;
      if (first < last) advise_pages(piece.begin + (first - address), last - first, false);
    }
  }

 private:
  // Adds a free piece, which may be empty, merged with the free neighbors.
  void put(Piece piece) {
    if (piece.bytes == 0) return;
    const auto& pieces = by_address_.values();
    const auto next = pieces.lower_bound(piece);
    const Piece after = next == pieces.end() ? Piece{} : *next;
    const Piece before = next == pieces.begin() ? Piece{} : *std::prev(next);
    if (piece.end() == after.begin) {
      remove(after);
      piece.bytes += after.bytes;
    }
    if (before.end() == piece.begin) {
      remove(before);
      piece = {before.bytes + piece.bytes, before.begin};
    }
    by_address_.insert(piece);
    by_size_.insert(piece);
  }
  void remove(const Piece& piece) {
    by_size_.erase(piece);
    by_address_.erase(piece);
  }
  size_t taken_ = 0;
  size_t cached_ = 0;  // about the bytes that can be returned to the system
  PreallocatedSet<Piece, ByAddress> by_address_, chunks_;
  PreallocatedSet<Piece> by_size_;
};

struct Shared {
  std::mutex mutex;
  FreePieces pieces;
  ThreadCache* threads = nullptr;  // list of open caches
};

// Never destroyed, because tensors with static lifetime are released after main().
Shared& shared() {
  alignas(Shared) static std::byte memory[sizeof(Shared)];
  static Shared& instance = *new (memory) Shared;
  return instance;
}

std::atomic<int64_t> live_bytes{0};
std::atomic<int64_t> peak_bytes{0};

void raise_peak(int64_t live) {
  int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

// Adds the bytes that this thread has counted to live_bytes.
void settle() {
  const int64_t bytes = thread_cache.unsettled.exchange(0, std::memory_order_relaxed);
  raise_peak(live_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

// Counts allocated bytes, or released ones if negative.
void count(int64_t bytes) {
  const int64_t unsettled = thread_cache.unsettled.load(std::memory_order_relaxed) + bytes;
  thread_cache.unsettled.store(unsettled, std::memory_order_relaxed);
  if (unsettled >= thread_cache.max_unsettled || -unsettled >= thread_cache.max_unsettled) [[unlikely]]
    settle();
}

void* system_allocate(size_t bytes, size_t alignment = kAlignment) {
  void* block = std::aligned_alloc(alignment, bytes);
  if (!block) {
    release_cached_memory();
    block = std::aligned_alloc(alignment, bytes);
  }
  check(block != nullptr, "memory: the system cannot provide ", bytes,
        " more bytes; use smaller tensors or batches");
  return block;
}

[[gnu::noinline]] void* allocate_large(size_t bytes) {
  if (bytes > PTRDIFF_MAX - kChunk) fail("memory: ", bytes, " bytes exceed the address space");
  bytes = round_up(bytes, kAlignment);
  if (!cache_enabled()) return system_allocate(bytes);
  {
    const std::lock_guard lock(shared().mutex);
    shared().pieces.reserve();
    if (char* begin = shared().pieces.take(bytes)) return begin;
  }
  size_t whole = std::max(kChunk, round_up(bytes, kHugePage));
  void* block = std::aligned_alloc(kHugePage, whole);
  if (!block) block = system_allocate(whole = round_up(bytes, kHugePage), kHugePage);
  std::unique_ptr<void, void (*)(void*)> chunk(block, std::free);
  advise_pages(block, whole, true);
  const std::lock_guard lock(shared().mutex);
  shared().pieces.reserve();
  shared().pieces.add({whole, static_cast<char*>(block)}, bytes);
  return chunk.release();
}

void release_large(void* block, size_t bytes) {
  if (!cache_enabled()) return std::free(block);
  const std::lock_guard lock(shared().mutex);
  shared().pieces.give_back({round_up(bytes, kAlignment), static_cast<char*>(block)});
}

struct ThreadCacheCloser {
  ~ThreadCacheCloser() {
    settle();
    thread_cache.state = ThreadCache::closed;
    thread_cache.capacity = 0;
    thread_cache.max_unsettled = 0;
    free_all(thread_cache.lists);
    const std::lock_guard lock(shared().mutex);
    ThreadCache** at = &shared().threads;
    while (*at != &thread_cache) at = &(*at)->next;
    *at = thread_cache.next;
  }
};

bool open_thread_cache() {
  if (thread_cache.state != ThreadCache::fresh || !cache_enabled()) return false;
  static thread_local const ThreadCacheCloser closer;  // destroyed when the thread ends
  thread_cache.state = ThreadCache::open;
  thread_cache.capacity = kMaxCachedPerThread;
  thread_cache.max_unsettled = kLargeBytes;
  const std::lock_guard lock(shared().mutex);
  thread_cache.next = std::exchange(shared().threads, &thread_cache);
  return true;
}

}  // namespace

void* allocate(size_t bytes) {
  void* block = nullptr;
  if (bytes >= kLargeBytes) {
    block = allocate_large(bytes);
  } else {
    const SizeClass size = class_of(bytes);
    block = pop(thread_cache.lists[size.index]);
    if (block) [[likely]]
      thread_cache.capacity += size.bytes;
    else
      block = system_allocate(size.bytes);
  }
  count(static_cast<int64_t>(bytes));
  return block;
}

void release(void* block, size_t bytes) noexcept {
  if (!block) return;
  count(-static_cast<int64_t>(bytes));
  if (bytes >= kLargeBytes) return release_large(block, bytes);
  const SizeClass size = class_of(bytes);
  if (thread_cache.capacity < size.bytes && !open_thread_cache()) return std::free(block);
  thread_cache.capacity -= size.bytes;
  push(thread_cache.lists[size.index], block);
}

void release_cached_memory() noexcept {
  free_all(thread_cache.lists);
  if (thread_cache.state == ThreadCache::open) thread_cache.capacity = kMaxCachedPerThread;
  const std::lock_guard lock(shared().mutex);
  shared().pieces.trim();
}

MemoryUse memory_use() noexcept {
  const std::lock_guard lock(shared().mutex);
  int64_t live = live_bytes.load(std::memory_order_relaxed);
  for (const ThreadCache* thread = shared().threads; thread; thread = thread->next)
    live += thread->unsettled.load(std::memory_order_relaxed);
  raise_peak(live);
  return {static_cast<size_t>(live), static_cast<size_t>(peak_bytes.load(std::memory_order_relaxed))};
}

void reset_peak_memory() noexcept { peak_bytes = static_cast<int64_t>(memory_use().live); }

}  // namespace heed
