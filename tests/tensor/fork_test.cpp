#include "tensor/fork.h"

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/support/expect.h"

using namespace heed;

namespace {

// Calls f in a child process and returns its result, or -1 after 20 seconds.
template <class F>
int in_child(const F& f) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);
    int answer = 99;
    try {
      answer = f();
    } catch (...) {
    }
    _exit(answer);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Products, sums and their gradients, on all threads.
std::string compute() {
  manual_seed(1);
  const Tensor x = randn({300, 400}).requires_grad_(), w = randn({400, 300}).requires_grad_();
  const Tensor y = sum(softmax(matmul(x, w), 1) * matmul(x, w));
  y.backward();
  return bytes_of(y) + bytes_of(x.grad()) + bytes_of(w.grad());
}

// The number of threads that a loop uses.
int64_t threads_at_work() {
  std::array<std::atomic<bool>, 64> seen{};
  std::atomic<int> arrived = 0;
  parallel_for(4, 1, [&](int64_t begin, int64_t) {
    ++arrived;
    for (int i = 0; i < 200 && arrived < 4; ++i) usleep(1000);
    seen[static_cast<size_t>(begin)] = arrived == 4;
  });
  return std::ranges::count_if(seen, [](const auto& all) { return all.load(); });
}

}  // namespace

TEST_CASE("fork: a child computes on as many threads as its parent did before") {
  const Threads four(4);
  const std::string wanted = compute();
  REQUIRE(threads_at_work() == 4);
  for (int round = 0; round < 3; ++round) {
    CHECK(in_child([&] { return compute() == wanted ? 7 : 8; }) == 7);
#ifndef __clang__  // its OpenMP gives a child one thread
    CHECK(in_child([&] { return threads_at_work() == 4 ? 7 : 8; }) == 7);
#endif
    // A child of the child.
    CHECK(in_child([&] {
            compute();
            const pid_t next = fork();
            if (next == 0) _exit(compute() == wanted ? 7 : 8);
            int status = 0;
            waitpid(next, &status, 0);
            return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
          }) == 7);
    CHECK(compute() == wanted);  // the parent continues
    CHECK(threads_at_work() == 4);
  }
}

TEST_CASE("fork: from another thread than the one that computed") {
  const Threads two(2);
  const std::string wanted = compute();
  int answer = 0;
  std::thread([&] {
    compute();
    answer = in_child([&] { return compute() == wanted ? 7 : 8; });
  }).join();
  CHECK(answer == 7);
}

TEST_CASE("fork: a child made inside a parallel loop computes on one thread") {
  const Threads two(2);
  const std::string wanted = compute();
  int answer = 0;
  parallel_for(2, 1, [&](int64_t begin, int64_t) {
    if (begin == 0) answer = in_child([&] { return compute() == wanted ? 7 : 8; });
  });
  CHECK(answer == 7);
}
