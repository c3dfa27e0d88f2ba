#include "tensor/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "tensor/error.h"

namespace heed {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLargeBytes = size_t{1} << 16;  // from here on the shared lists
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMostCachedPerThread = size_t{1} << 22;
constexpr int64_t kMostUnsettled = kLargeBytes;
constexpr size_t kMostCachedShared = size_t{1} << 30;
constexpr int kClasses = 4 * 40;

#if defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Multiples of 64 up to 1024, from there four classes to each doubling: 1280, 1536, 1792, 2048, 2560, ...
constexpr size_t kFine = 1024;
constexpr int kFineClasses = static_cast<int>(kFine / kAlignment);

int class_of(size_t bytes) {
  const size_t last = bytes - 1;
  if (bytes <= kFine) return static_cast<int>(last / kAlignment);
  const int log = std::bit_width(last) - 1;
  return kFineClasses + 4 * (log - 10) + static_cast<int>((last >> (log - 2)) & 3);
}

size_t class_bytes(int size_class) {
  if (size_class < kFineClasses) return (static_cast<size_t>(size_class) + 1) * kAlignment;
  const int coarse = size_class - kFineClasses;
  return (static_cast<size_t>(coarse % 4) + 5) << (8 + coarse / 4);
}

struct FreeBlock {
  FreeBlock* next;
};

using Lists = std::array<FreeBlock*, kClasses>;

// The small blocks of one thread: plain data, so that reaching it costs nothing. `room` counts the bytes that
// may still be added. It and `batch` are 0 before the first release and after the thread's end, which is when a
// thread_local's destructor may still release tensors.
struct ThreadCache {
  Lists lists;
  size_t room;
  int64_t batch;                   // bytes that may be unsettled
  std::atomic<int64_t> unsettled;  // handed out less given back, and not in live_bytes; written by its thread
  ThreadCache* next;               // of the open ones
  enum { fresh, open, closed } state;
};
thread_local constinit ThreadCache thread_cache{};

struct Shared {
  std::mutex mutex;
  Lists lists{};
  size_t cached = 0;
  ThreadCache* threads = nullptr;  // the open ones
};

// Never destroyed: tensors of static lifetime are released after main.
Shared& shared() {
  static Shared& instance = *new Shared;
  return instance;
}

std::atomic<int64_t> live_bytes{0};
std::atomic<int64_t> peak_bytes{0};

void raise_peak(int64_t live) {
  int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

void settle() {
  const int64_t bytes = thread_cache.unsettled.load(std::memory_order_relaxed);
  thread_cache.unsettled.store(0, std::memory_order_relaxed);
  raise_peak(live_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

// Counts bytes handed out or, negative, given back.
void count(int64_t bytes) {
  const int64_t unsettled = thread_cache.unsettled.load(std::memory_order_relaxed) + bytes;
  thread_cache.unsettled.store(unsettled, std::memory_order_relaxed);
  if (unsettled >= thread_cache.batch || -unsettled >= thread_cache.batch) [[unlikely]]
    settle();
}

bool cache_enabled() {
  static const bool enabled = !kSanitized && std::getenv("HEED_NO_CACHE") == nullptr;
  return enabled;
}

void* system_allocate(size_t bytes) {
  const bool huge = bytes >= 2 * kHugePage;
  const size_t alignment = huge ? kHugePage : kAlignment;
  void* block = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!block) return nullptr;
  if (huge) madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}

void* push(FreeBlock*& head, void* block) {
  head = new (block) FreeBlock{head};
  return block;
}

void* pop(FreeBlock*& head) {
  FreeBlock* block = head;
  if (block) head = block->next;
  return block;
}

void free_all(Lists& lists) noexcept {
  for (FreeBlock*& head : lists)
    while (void* block = pop(head)) std::free(block);
}

struct Closer {
  ~Closer() {
    settle();
    thread_cache.state = ThreadCache::closed;
    thread_cache.room = 0;
    thread_cache.batch = 0;
    free_all(thread_cache.lists);
    const std::lock_guard lock(shared().mutex);
    ThreadCache** at = &shared().threads;
    while (*at != &thread_cache) at = &(*at)->next;
    *at = thread_cache.next;
  }
};

bool open_thread_cache() {
  if (thread_cache.state != ThreadCache::fresh || !cache_enabled()) return false;
  static thread_local const Closer closer;  // its destructor runs at the thread's end
  thread_cache.state = ThreadCache::open;
  thread_cache.room = kMostCachedPerThread;
  thread_cache.batch = kMostUnsettled;
  const std::lock_guard lock(shared().mutex);
  thread_cache.next = std::exchange(shared().threads, &thread_cache);
  return true;
}

}  // namespace

void* allocate(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  const int size_class = class_of(bytes);
  const size_t whole = size_class < kClasses ? class_bytes(size_class) : bytes;
  void* block = nullptr;
  if (bytes < kLargeBytes) {
    block = pop(thread_cache.lists[static_cast<size_t>(size_class)]);
    if (block) [[likely]] {
      thread_cache.room += whole;
      count(static_cast<int64_t>(bytes));
      return block;
    }
  } else if (cache_enabled() && size_class < kClasses) {
    const std::lock_guard lock(shared().mutex);
    block = pop(shared().lists[static_cast<size_t>(size_class)]);
    if (block) shared().cached -= whole;
  }
  if (!block) block = system_allocate(whole);
  if (!block) {
    release_cached_memory();
    block = system_allocate(whole);
  }
  if (!block) fail("memory: the system does not give ", whole, " bytes more; use smaller tensors or batches");
  count(static_cast<int64_t>(bytes));
  return block;
}

void release(void* block, size_t bytes) noexcept {
  if (!block) return;
  bytes = std::max<size_t>(bytes, 1);
  count(-static_cast<int64_t>(bytes));
  const int size_class = class_of(bytes);
  const size_t whole = size_class < kClasses ? class_bytes(size_class) : bytes;
  if (bytes < kLargeBytes) {
    if (thread_cache.room >= whole || open_thread_cache()) [[likely]] {
      thread_cache.room -= whole;
      push(thread_cache.lists[static_cast<size_t>(size_class)], block);
      return;
    }
  } else if (cache_enabled() && size_class < kClasses) {
    const std::lock_guard lock(shared().mutex);
    if (shared().cached + whole <= kMostCachedShared) {
      shared().cached += whole;
      push(shared().lists[static_cast<size_t>(size_class)], block);
      return;
    }
  }
  std::free(block);
}

void release_cached_memory() noexcept {
  free_all(thread_cache.lists);
  if (thread_cache.state == ThreadCache::open) thread_cache.room = kMostCachedPerThread;
  const std::lock_guard lock(shared().mutex);
  free_all(shared().lists);
  shared().cached = 0;
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
