#include "tensor/parallel.h"

#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "tests/support/expect.h"

using Blocks = std::multiset<std::pair<int64_t, int64_t>>;

static Blocks blocks_of(int64_t n, int64_t block) {
  Blocks blocks;
  std::mutex mutex;
  parallel_for(n, block, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    blocks.emplace(begin, end);
  });
  return blocks;
}

TEST_CASE("blocks depend on the sizes alone, and each runs once") {
  for (const int64_t block : {1, 7, 64})
    for (const int64_t n :
         {int64_t{0}, int64_t{1}, block - 1, block, block + 1, 10 * block, 10 * block + 1}) {
      Blocks expected;
      for (int64_t i = 0; i < n; i += block) expected.emplace(i, std::min(n, i + block));
      for (const int threads : {1, 2, 3, 7}) {
        const Threads guard(threads);
        CHECK(blocks_of(n, block) == expected);
      }
    }
  CHECK(blocks_of(-5, 3).empty());
}

TEST_CASE("a loop uses the number of threads that is set" * doctest::test_suite("threads")) {
  for (const int threads : {1, 2, 4}) {
    const Threads guard(threads);
    CHECK(num_threads() == threads);
    std::set<std::thread::id> seen;
    std::mutex mutex;
    parallel_for(64, 1, [&](int64_t, int64_t) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    CHECK(static_cast<int>(seen.size()) == threads);
  }
  // The number is the same for all threads of the process.
  const Threads guard(3);
  CHECK(std::async(std::launch::async, num_threads).get() == 3);
}

TEST_CASE("a loop inside a loop runs in the calling thread" * doctest::test_suite("threads")) {
  const Threads guard(3);
  std::vector<int> wrong(8, 0);
  parallel_for(8, 1, [&](int64_t i, int64_t) {
    const auto here = std::this_thread::get_id();
    parallel_for(10, 2, [&](int64_t, int64_t) {
      wrong[static_cast<size_t>(i)] += std::this_thread::get_id() != here;
    });
  });
  CHECK(wrong == std::vector<int>(8, 0));
}

TEST_CASE("an exception reaches the caller, and the next loop runs" * doctest::test_suite("threads")) {
  for (const int threads : {1, 3}) {
    const Threads guard(threads);
    const auto failing = [] { parallel_for(9, 1, [](int64_t i, int64_t) { check(i != 5, "block ", i); }); };
    CHECK(message(failing) == "block 5");
    CHECK(blocks_of(9, 1).size() == 9);
    for (int round = 0; round < 20; ++round)  // of the lowest block, as in a loop without threads
      CHECK(message([] { parallel_for(9, 1, [](int64_t i, int64_t) { check(i < 3, "block ", i); }); }) ==
            "block 3");
  }
}

TEST_CASE("set_num_threads throws for numbers outside 1 to 1024") {
  const int before = num_threads();
  for (const int threads : {0, -1, 1025})
    CHECK_ERROR(set_num_threads(threads),
                "set_num_threads: " + std::to_string(threads) + " is not a number of threads from 1 to 1024");
  CHECK(num_threads() == before);
}
