// Several user threads at the same time: one shared module, separate graphs, separate trainings.

#include <thread>

#include "nn/optim/adaptive.h"
#include "nn/optim/clip.h"
#include "nn/view/capture.h"
#include "tests/support/expect.h"
#include "tests/support/word_classifier.h"

namespace {

struct Classifier : WordClassifier {
  Classifier() : WordClassifier(2, {.dim_feedforward = 32, .dropout = 0.1}) {}
};

constexpr int kThreads = 8;

// Returns f(0), f(1), ..., each computed in its own thread, all at the same time.
Texts at_once(int threads, const std::function<std::string(int)>& f) {
  Texts found(static_cast<size_t>(threads));
  std::atomic<int> ready = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      found[static_cast<size_t>(i)] = f(i);
    });
  for (std::thread& thread : all) thread.join();
  return found;
}
Texts one_by_one(int threads, const std::function<std::string(int)>& f) {
  Texts found;
  for (int i = 0; i < threads; ++i) found.push_back(f(i));
  return found;
}

Tensor sentences(int i) {
  manual_seed(static_cast<uint64_t>(100 + i));
  return randint(0, 40, {4, 3 + i});
}

// Losses and weights of a training.
std::string train(int seed, int steps) {
  manual_seed(static_cast<uint64_t>(seed));
  Classifier net;
  Adam adam(net.parameters(), {.lr = 1e-2});
  std::string bytes;
  for (int step = 0; step < steps; ++step) {
    const Tensor ids = randint(0, 40, {8, 6}), classes = randint(0, 5, {8});
    adam.zero_grad();
    const Tensor loss = F::cross_entropy(net(ids), classes);
    loss.backward();
    clip_grad_norm_(net.parameters(), 1);
    adam.step();
    bytes += bytes_of(loss);
  }
  for (const Tensor& p : net.parameters()) bytes += bytes_of(p);
  return bytes;
}

}  // namespace

TEST_CASE("eight threads call one module, including its first call" * doctest::test_suite("threads")) {
  manual_seed(1);
  const auto infer = [](const Classifier& net, bool grad, int i) {
    const GradMode mode(grad);
    std::string bytes;
    for (int round = 0; round < 5; ++round) bytes += bytes_of(net(sentences(i)));
    return bytes;
  };
  for (const bool grad : {false, true}) {
    Classifier net, same = net;
    net.eval();
    same.eval();
    const Texts wanted = one_by_one(kThreads, [&](int i) { return infer(same, grad, i); });
    for (const int pool : {1, 2}) {
      const Threads threads(pool);
      CHECK(at_once(kThreads, [&](int i) { return infer(net, grad, i); }) == wanted);
    }
  }
}

TEST_CASE("one thread captures the attention of a module that others call" * doctest::test_suite("threads")) {
  manual_seed(1);
  Classifier net;
  net.eval();
  const NoGrad guard;
  const Texts calls = at_once(4, [&](int i) {
    if (i > 0) return bytes_of(net(sentences(i)));
    const AttentionScope scope;
    net(sentences(i));
    return std::to_string(scope.calls().size());
  });
  CHECK(calls[0] == "2");
}

TEST_CASE("eight threads differentiate graphs over shared weights" * doctest::test_suite("threads")) {
  manual_seed(1);
  Classifier net;
  net.eval();
  const auto gradients = [&](int i) {
    std::string bytes;
    const Tensor loss = F::cross_entropy(net(sentences(i)), zeros({4}, int64));
    for (const Tensor& g : grad(loss, net.parameters())) bytes += bytes_of(g);
    return bytes;
  };
  const Texts wanted = one_by_one(kThreads, gradients);
  CHECK(at_once(kThreads, gradients) == wanted);
  const auto own = [&](int i) {
    Classifier copy = net;
    F::cross_entropy(copy(sentences(i)), zeros({4}, int64)).backward();
    std::string bytes;
    for (const Tensor& p : copy.parameters()) bytes += bytes_of(p.grad());
    return bytes;
  };
  CHECK(at_once(kThreads, own) == wanted);
}

TEST_CASE("two trainings in one process equal each alone" * doctest::test_suite("threads")) {
  const auto run = [](int i) { return train(7 + i, 4); };
  const Texts wanted = one_by_one(2, run);
  for (const int pool : {1, 2}) {
    const Threads threads(pool);
    CHECK(at_once(2, run) == wanted);
  }
}
