#include "tensor/memory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/support/expect.h"

constexpr size_t kShared = size_t{1} << 16;  // blocks of this size or more are pieces of shared chunks

const size_t sizes[] = {0,    1,    63,   64,    65,      127,         1023,   1024,    1025,   1279,
                        1280, 1281, 4095, 65535, kShared, kShared + 1, 100000, 1 << 20, 5 << 20};

TEST_CASE("blocks are aligned and do not overlap") {
  struct Block {
    unsigned char* data;
    size_t bytes;
    unsigned char mark;
  };
  for (int round = 0; round < 2; ++round) {  // the second round reuses blocks of the first
    std::vector<Block> blocks;
    for (const size_t bytes : sizes)
      for (int k = 0; k < 3; ++k) {
        blocks.push_back({static_cast<unsigned char*>(allocate(bytes)), bytes,
                          static_cast<unsigned char>(blocks.size() + 1)});
        CHECK(reinterpret_cast<uintptr_t>(blocks.back().data) % 64 == 0);
        std::memset(blocks.back().data, blocks.back().mark, bytes);
      }
    for (const Block& block : blocks) {
      size_t wrong = 0;
      for (size_t i = 0; i < block.bytes; ++i) wrong += block.data[i] != block.mark;
      CHECK(wrong == 0);
      release(block.data, block.bytes);
    }
  }
  release(nullptr, 10);
}

TEST_CASE("a released block is reused") {
  if (HEED_ASAN || std::getenv("HEED_NO_CACHE")) return;  // released blocks are not cached
  for (const size_t bytes : sizes) {
    void* first = allocate(bytes);
    release(first, bytes);
    void* second = allocate(bytes);
    CHECK(second == first);
    void* third = allocate(bytes);
    CHECK(third != second);
    release(second, bytes);
    release(third, bytes);
  }
  // Sizes of one class share blocks: 1025 to 1280 bytes.
  void* block = allocate(1025);
  release(block, 1025);
  void* same = allocate(1280);
  CHECK(same == block);
  void* larger = allocate(1281);
  release(same, 1280);
  CHECK(larger != block);
  release(larger, 1281);

  Tensor x = zeros({1000});
  const void* memory = TensorImpl::of(x).storage->data;
  x = Tensor();
  CHECK(TensorImpl::of(ones({1000})).storage->data == memory);
}

TEST_CASE("live bytes and their peak") {
  constexpr size_t kMany = 64 * kShared;
  const auto peak_is = [](size_t bytes) {  // apart from the small blocks of other threads
    const size_t peak = memory_use().peak;
    return peak + 8 * kShared > bytes && peak < bytes + 8 * kShared;
  };
  const MemoryUse before = memory_use();
  reset_peak_memory();
  CHECK(memory_use().peak == before.live);
  void* a = allocate(2 * kMany);
  void* b = allocate(kMany);
  CHECK(memory_use().live == before.live + 3 * kMany);
  release(a, 2 * kMany);
  CHECK(memory_use().live == before.live + kMany);
  CHECK(peak_is(before.live + 3 * kMany));
  reset_peak_memory();
  CHECK(memory_use().peak == before.live + kMany);
  release(b, kMany);
  CHECK(memory_use().live == before.live);
  {
    const Tensor x = zeros({1 << 20}), view = x.detach();
    CHECK(memory_use().live >= before.live + (4 << 20));
    CHECK(memory_use().live < before.live + (4 << 20) + 4096);
  }
  CHECK(memory_use().live == before.live);
}

TEST_CASE("small blocks are counted") {
  const MemoryUse before = memory_use();
  Tensors small(1000);
  for (Tensor& x : small) x = zeros({100});
  const size_t grown = memory_use().live - before.live;
  CHECK(grown >= 1000 * 100 * sizeof(float));
  CHECK(grown <= 1000 * (100 * sizeof(float) + 400));
  small.clear();
  CHECK(memory_use().live == before.live);
  CHECK(memory_use().peak >= before.live + grown);

  reset_peak_memory();
  std::vector<void*> blocks(2000);
  for (size_t i = 0; i < blocks.size(); ++i) release(allocate(1000), 1000);
  CHECK(memory_use().peak < before.live + 1000 * 1000);
  for (void*& block : blocks) block = allocate(1000);
  for (void* block : blocks) release(block, 1000);
  CHECK(memory_use().peak > before.live + 1000 * 1000);  // although memory_use() was not called in between
}

TEST_CASE("small blocks of running and ended threads are counted" * doctest::test_suite("threads")) {
  const size_t before = memory_use().live;
  std::vector<void*> blocks(8);
  size_t inside = 0;
  std::thread([&] {
    release(allocate(100), 100);
    for (void*& block : blocks) block = allocate(100);
    std::thread([&] { inside = memory_use().live; }).join();  // in another thread
  }).join();
  CHECK(inside == before + 800);
  CHECK(memory_use().live == before + 800);
  for (void* block : blocks) release(block, 100);
  CHECK(memory_use().live == before);
}

TEST_CASE("releasing cached memory leaves memory in use untouched") {
  const Tensor kept = full({100000}, 3);
  for (const size_t bytes : sizes) release(allocate(bytes), bytes);
  release_cached_memory();
  release_cached_memory();
  CHECK(values(kept) == Values(100000, 3));
  release(allocate(100), 100);
}

TEST_CASE("a request for too much memory throws") {
#if !defined(__SANITIZE_ADDRESS__)  // which would abort
  const MemoryUse before = memory_use();
  constexpr bool kIsWide = sizeof(size_t) == 8;
  constexpr size_t kTooMuch = size_t{1} << (kIsWide ? 60 : 31);
  CHECK_ERROR_HAS(allocate(kTooMuch),
                  std::to_string(kTooMuch) + (kIsWide ? " more bytes" : " bytes exceed the address space"));
  CHECK(memory_use().live == before.live);
#endif
}

TEST_CASE("blocks outlive their thread and are released by others" * doctest::test_suite("threads")) {
  const size_t before = memory_use().live;
  Tensors made(64);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    for (size_t k = 0; k < 4; ++k)
      threads.emplace_back([&, k] {
        for (size_t i = k; i < made.size(); i += 4)  // releases blocks of another thread
          made[i] = full({i % 2 ? 100 : 40000}, static_cast<double>(i));
      });
    for (std::thread& thread : threads) thread.join();
    std::rotate(made.begin(), made.begin() + 1, made.end());
  }
  for (const Tensor& x : made) CHECK(values(x) == Values(static_cast<size_t>(x.numel()), x.data<float>()[0]));
  made.clear();
  CHECK(memory_use().live == before);
}
