#include "tensor/parallel.h"

#include <unistd.h>

#include <future>

#include "tests/support/expect.h"
#include "tests/support/program.h"

// Products, sums and their gradients, on all threads.
static std::string compute() {
  manual_seed(1);
  const Tensor x = randn({300, 400}).requires_grad_(), w = randn({400, 300}).requires_grad_();
  const Tensor y = sum(softmax(matmul(x, w), 1) * matmul(x, w));
  y.backward();
  return bytes_of(y) + bytes_of(x.grad()) + bytes_of(w.grad());
}

// The number of threads that a loop uses.
static int64_t threads_at_work() {
  std::array<std::atomic<bool>, 64> seen{};
  std::atomic<int> arrived = 0;
  parallel_for(4, 1, [&](int64_t begin, int64_t) {
    ++arrived;
    for (int i = 0; i < 200 && arrived < 4; ++i) usleep(1000);
    seen[static_cast<size_t>(begin)] = arrived == 4;
  });
  return std::ranges::count_if(seen, [](const auto& all) { return all.load(); });
}

TEST_CASE("fork: a child uses as many threads as its parent") {
  const Threads four(4);
  const std::string wanted = compute();
  REQUIRE(threads_at_work() == 4);
  for (int round = 0; round < 3; ++round) {
    CHECK(in_child([&] { return compute() == wanted; }));
#ifndef __clang__  // its OpenMP gives a child one thread
    CHECK(in_child([&] { return threads_at_work() == 4; }));
#endif
    // A child process of the child.
    CHECK(in_child([&] {
      compute();
      return in_child([&] { return compute() == wanted; });
    }));
    CHECK(compute() == wanted);  // the parent continues
    CHECK(threads_at_work() == 4);
  }
}

TEST_CASE("fork: from another thread than the one that computed") {
  const Threads two(2);
  const std::string wanted = compute();
  const auto computes = [&] { return compute() == wanted; };
  CHECK(std::async(std::launch::async, [&] { return computes() && in_child(computes); }).get());
}

TEST_CASE("fork: a child made inside a parallel loop computes on one thread") {
  const Threads two(2);
  const std::string wanted = compute();
  bool same = false;
  parallel_for(2, 1, [&](int64_t begin, int64_t) {
    if (begin == 0) same = in_child([&] { return compute() == wanted; });
  });
  CHECK(same);
}
