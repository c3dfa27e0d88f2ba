#include "tensor/storage.h"

#include <new>

namespace heed {

constexpr size_t kHeader = 64;  // keeps the data on a cache line of its own
static_assert(sizeof(Storage) <= kHeader);

Ref<Storage> Storage::make(int64_t bytes) {
  void* block = allocate(kHeader + static_cast<size_t>(bytes));
  auto* storage = new (block) Storage(bytes);
  storage->data = static_cast<unsigned char*>(block) + kHeader;
  return Ref<Storage>(storage);
}

void Storage::release() noexcept {
  const size_t whole = kHeader + static_cast<size_t>(bytes);
  this->~Storage();
  heed::release(this, whole);
}

}  // namespace heed
