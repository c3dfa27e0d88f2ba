#include "tensor/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "tensor/error.h"

namespace heed {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLargeBytes = size_t{1} << 16;  // from here on pieces of shared chunks
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kChunk = size_t{256} << 20;  // of addresses: a page is there once it is touched
constexpr size_t kMostCachedPerThread = size_t{1} << 22;
constexpr int64_t kMostUnsettled = kLargeBytes;
constexpr size_t kMostCachedShared = size_t{1} << 30;

#if defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

size_t up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// The classes of small blocks: multiples of 64 bytes up to 1024, from there four to each doubling: 1280,
// 1536, 1792, 2048, 2560, ... Around a size they are 2^shift bytes apart.
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

struct FreeBlock {
  FreeBlock* next;
};

void push(FreeBlock*& head, void* block) { head = new (block) FreeBlock{head}; }

void* pop(FreeBlock*& head) {
  FreeBlock* block = head;
  if (block) head = block->next;
  return block;
}

using Lists = std::array<FreeBlock*, kClasses>;

// The small blocks of one thread: plain data, so that reaching it costs nothing. `room` counts the bytes that
// may still be added. It and `batch` are 0 before the first release and after the thread's end, which is when
// a thread_local's destructor may still release tensors.
struct ThreadCache {
  Lists lists;
  size_t room;
  int64_t batch;                   // bytes that may be unsettled
  std::atomic<int64_t> unsettled;  // handed out less given back, and not in live_bytes; written by its thread
  ThreadCache* next;               // of the open ones
  enum { fresh, open, closed } state;
};
thread_local constinit ThreadCache thread_cache{};

// The nodes of the maps below. They are made while memory is asked for, since giving it back must not fail.
struct SpareNodes {
  static constexpr size_t kBytes = 64;
  void reserve(size_t wanted) {
    for (; count < wanted; ++count) push(list, ::operator new(kBytes));
  }
  FreeBlock* list = nullptr;
  size_t count = 0;
};
constinit SpareNodes spare_nodes;

template <class T>
struct SpareNode {
  using value_type = T;
  SpareNode() = default;
  template <class Other>
  SpareNode(const SpareNode<Other>&) {}
  T* allocate(size_t) {
    static_assert(sizeof(T) <= SpareNodes::kBytes);
    --spare_nodes.count;
    return static_cast<T*>(pop(spare_nodes.list));
  }
  void deallocate(T* node, size_t) noexcept {
    push(spare_nodes.list, node);
    ++spare_nodes.count;
  }
  bool operator==(const SpareNode&) const { return true; }
};

// The free pieces of large memory. A request takes the smallest that is large enough and leaves the rest;
// neighbours that are free become one. So what the forward pass frees in large pieces serves for the
// gradients in small ones.
class Pieces {
 public:
  // What may throw of the next take() or add(), of giving back what is taken, and of give_back(): each block
  // that comes back is at most a piece more, each chunk that goes leaves at most one piece more.
  void prepare() { spare_nodes.reserve(2 * (taken_ + chunks_.size() + 4)); }
  void put_back(char* begin, size_t bytes) {
    --taken_;
    put(begin, bytes);
  }
  // A chunk from the system, of which the first bytes are taken.
  void add(char* chunk, size_t whole, size_t bytes) {
    ++taken_;
    chunks_.emplace(chunk, whole);
    if (whole > bytes) put(chunk + bytes, whole - bytes);
  }
  char* take(size_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, nullptr});
    if (fit == by_size_.end()) return nullptr;
    ++taken_;
    char* begin = fit->second;
    const size_t rest = erase(by_place_.find(begin)) - bytes;
    if (rest > 0) put(begin + bytes, rest);
    return begin;
  }
  // Frees the chunks that are free as a whole; of the others' free pieces it returns the memory, not the
  // addresses.
  void give_back() {
    std::erase_if(chunks_, [this](const auto& chunk) {
      const auto [begin, bytes] = chunk;
      const auto after = by_place_.upper_bound(begin);
      if (after == by_place_.begin()) return false;
      const auto piece = std::prev(after);
      const auto [first, size] = *piece;
      if (first + size < begin + bytes) return false;
      erase(piece);
      if (first < begin) put(first, static_cast<size_t>(begin - first));
      if (begin + bytes < first + size) put(begin + bytes, static_cast<size_t>(first + size - begin) - bytes);
      std::free(begin);
      return true;
    });
    for (const auto& [begin, bytes] : by_place_) {
      const auto place = reinterpret_cast<uintptr_t>(begin);
      const size_t first = up(place, kHugePage), last = (place + bytes) / kHugePage * kHugePage;
      if (first < last) madvise(begin + (first - place), last - first, MADV_DONTNEED);
    }
  }

 private:
  using Places = std::map<char*, size_t, std::less<>, SpareNode<std::pair<char* const, size_t>>>;
  using Size = std::pair<size_t, char*>;
  void put(char* begin, size_t bytes) {
    const auto next = by_place_.lower_bound(begin);
    if (next != by_place_.end() && begin + bytes == next->first) bytes += erase(next);
    if (const auto before = by_place_.lower_bound(begin); before != by_place_.begin())
      if (const auto last = std::prev(before); last->first + last->second == begin) {
        begin = last->first;
        bytes += erase(last);
      }
    by_place_.emplace(begin, bytes);
    by_size_.emplace(bytes, begin);
  }
  size_t erase(Places::iterator piece) {
    const size_t bytes = piece->second;
    by_size_.erase({bytes, piece->first});
    by_place_.erase(piece);
    return bytes;
  }
  size_t taken_ = 0;
  Places chunks_, by_place_;
  std::set<Size, std::less<>, SpareNode<Size>> by_size_;
};

struct Shared {
  std::mutex mutex;
  Pieces pieces;
  size_t cached = 0;
  ThreadCache* threads = nullptr;  // the open ones
};

// Never destroyed: tensors of static lifetime are released after main.
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

void* system_allocate(size_t bytes, size_t alignment = kAlignment) {
  void* block = std::aligned_alloc(alignment, bytes);
  if (!block) {
    release_cached_memory();
    block = std::aligned_alloc(alignment, bytes);
  }
  if (!block) fail("memory: the system does not give ", bytes, " bytes more; use smaller tensors or batches");
  return block;
}

void* allocate_large(size_t bytes) {
  if (bytes > PTRDIFF_MAX - kChunk) fail("memory: ", bytes, " bytes are more than there are addresses");
  bytes = up(bytes, kAlignment);
  if (!cache_enabled()) return system_allocate(bytes);
  const auto take = [bytes] {
    const std::lock_guard lock(shared().mutex);
    shared().pieces.prepare();
    char* begin = shared().pieces.take(bytes);
    if (begin) shared().cached -= std::min(shared().cached, bytes);
    return begin;
  };
  if (char* begin = take()) return begin;
  size_t whole = std::max(kChunk, up(bytes, kHugePage));
  void* block = std::aligned_alloc(kHugePage, whole);
  if (!block) block = system_allocate(whole = up(bytes, kHugePage), kHugePage);  // where addresses are few
  std::unique_ptr<void, void (*)(void*)> chunk(block, std::free);
  madvise(block, whole, MADV_HUGEPAGE);
  const std::lock_guard lock(shared().mutex);
  shared().pieces.prepare();
  shared().pieces.add(static_cast<char*>(block), whole, bytes);
  return chunk.release();
}

void release_large(void* block, size_t bytes) {
  bytes = up(bytes, kAlignment);
  if (!cache_enabled()) return std::free(block);
  const std::lock_guard lock(shared().mutex);
  shared().pieces.put_back(static_cast<char*>(block), bytes);
  shared().cached += bytes;
  if (shared().cached <= kMostCachedShared) return;
  shared().pieces.give_back();
  shared().cached = 0;
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
  void* block = nullptr;
  if (bytes >= kLargeBytes) {
    block = allocate_large(bytes);
  } else {
    const SizeClass size = class_of(bytes);
    block = pop(thread_cache.lists[size.index]);
    if (block) [[likely]]
      thread_cache.room += size.bytes;
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
  if (thread_cache.room < size.bytes && !open_thread_cache()) return std::free(block);
  thread_cache.room -= size.bytes;
  push(thread_cache.lists[size.index], block);
}

void release_cached_memory() noexcept {
  free_all(thread_cache.lists);
  if (thread_cache.state == ThreadCache::open) thread_cache.room = kMostCachedPerThread;
  const std::lock_guard lock(shared().mutex);
  shared().pieces.give_back();
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
