#include "tests/faults/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

// The linker turns heed's calls of aligned_alloc into calls of __wrap_aligned_alloc (CMakeLists.txt). Calls
// of malloc by OpenMP, OpenBLAS and the C library do not fail, since these libraries would end the program.
namespace faults {
namespace {

constexpr int64_t kNever = INT64_MAX;
std::atomic<int64_t> made = 0, live = 0, first_failing = kNever, last_failing = kNever;
std::atomic<bool> any_failed = false;

bool fails() {
  const int64_t number = made.fetch_add(1, std::memory_order_relaxed);
  if (number < first_failing || number > last_failing) return false;
  any_failed = true;
  return true;
}

void* take(size_t bytes, size_t alignment) {
  if (fails()) return nullptr;
  void* block = alignment <= alignof(std::max_align_t)
                    ? std::malloc(bytes == 0 ? 1 : bytes)
                    : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (block) live.fetch_add(1, std::memory_order_relaxed);
  return block;
}
void* take_or_throw(size_t bytes, size_t alignment = 1) {
  void* block = take(bytes, alignment);
  return block ? block : throw std::bad_alloc();
}
void give_back(void* block) noexcept {
  if (block) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(block);
}

}  // namespace

int64_t allocations() { return made; }
int64_t live_blocks() { return live; }

AllocationFailure::AllocationFailure(int64_t number, Kind kind) {
  any_failed = false;
  first_failing = made + number;
  last_failing = kind == once ? made + number : kNever;
}
AllocationFailure::~AllocationFailure() { first_failing = kNever; }
bool AllocationFailure::happened() { return any_failed; }

}  // namespace faults

extern "C" {
void* __real_aligned_alloc(size_t alignment, size_t bytes);  // NOLINT
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  return faults::fails() ? nullptr : __real_aligned_alloc(alignment, bytes);
}
}

// clang-format off
using Align = std::align_val_t;
using NoThrow = const std::nothrow_t&;
void* operator new(size_t n) { return faults::take_or_throw(n); }
void* operator new[](size_t n) { return faults::take_or_throw(n); }
void* operator new(size_t n, Align a) { return faults::take_or_throw(n, size_t(a)); }
void* operator new[](size_t n, Align a) { return faults::take_or_throw(n, size_t(a)); }
void* operator new(size_t n, NoThrow) noexcept { return faults::take(n, 1); }
void* operator new[](size_t n, NoThrow) noexcept { return faults::take(n, 1); }
void operator delete(void* p) noexcept { faults::give_back(p); }
void operator delete[](void* p) noexcept { faults::give_back(p); }
void operator delete(void* p, size_t) noexcept { faults::give_back(p); }
void operator delete[](void* p, size_t) noexcept { faults::give_back(p); }
void operator delete(void* p, Align) noexcept { faults::give_back(p); }
void operator delete[](void* p, Align) noexcept { faults::give_back(p); }
void operator delete(void* p, size_t, Align) noexcept { faults::give_back(p); }
void operator delete[](void* p, size_t, Align) noexcept { faults::give_back(p); }
void operator delete(void* p, NoThrow) noexcept { faults::give_back(p); }
void operator delete[](void* p, NoThrow) noexcept { faults::give_back(p); }
// clang-format on
