// Memory ends at every allocation in turn of a step of training, a load and a save: each must end in bad_alloc or an
// Error with all values as before it or as after it, nothing lost, and the library in order.

#include <filesystem>
#include <functional>

#include "autograd/ops/elementwise.h"
#include "nn/functional.h"
#include "nn/layers/embedding.h"
#include "nn/npy.h"
#include "nn/optim/clip.h"
#include "nn/optim/optimizer.h"
#include "nn/safetensors.h"
#include "nn/text/vocabulary.h"
#include "nn/transformer/transformer.h"
#include "tests/faults/allocations.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace heed;
using faults::Refusal;

namespace {

// Words to classes by attention with dropout.
struct Net : Layer<Net> {
  Tensor forward(const Tensor& ids) const { return last(mean(encoder(words(ids)), 1)); }
  void visit(Visitor& v) override {
    v("words", words);
    v("encoder", encoder);
    v("last", last);
  }
  Embedding words{40, 16};
  TransformerEncoder encoder{16, 2, 1, {.dim_feedforward = 24, .dropout = 0.2}};
  Linear last{16, 5};
};

std::string bytes_of_all(const std::map<std::string, Tensor>& state) {
  std::string all;
  for (const auto& [name, x] : state) all += name + " " + to_string(x.shape()) + bytes_of(x);
  return all;
}
std::map<std::string, Tensor> clones(const std::map<std::string, Tensor>& state) {
  std::map<std::string, Tensor> copy;
  for (const auto& [name, x] : state) copy[name] = clone(x.detach());
  return copy;
}

// Something that is done, undone, and looked at.
struct Deed {
  std::function<void()> prepare, run;
  std::function<std::string()> state;
};

// Everything that is held, once nothing is kept for later.
std::pair<size_t, int64_t> held() {
  release_cached_memory();
  return {memory_use().live, faults::live_blocks()};
}

// Runs the deed with memory ending at each of its allocations.
void check_refusals(const Deed& deed, Refusal::Kind kind) {
  std::string before, after;
  std::pair<size_t, int64_t> usual;
  for (int round = 0; round < 3; ++round) {  // what is made once and stays is made now
    deed.prepare();
    before = deed.state();
    deed.run();
    after = deed.state();
    REQUIRE(before != after);
  }
  int64_t number = 0;
  for (bool refused = true; refused; ++number) {
    CAPTURE(number);
    REQUIRE(number < 100000);
    deed.prepare();
    release_cached_memory();
    bool failed = false;
    std::string said;
    {
      const Refusal refusal(number, kind);
      try {
        deed.run();
      } catch (const std::bad_alloc&) {
        failed = true;
      } catch (const Error& error) {
        failed = true;
        said = error.what();
      }
      refused = Refusal::refused();
    }
    if (!said.empty()) CHECK_MESSAGE(contains(said, "memory: the system does not give"), said);
    const std::string now = deed.state();
    if (failed)
      REQUIRE((now == before || now == after));
    else
      REQUIRE(now == after);
    REQUIRE(refused >= failed);
    if (kind == Refusal::from_then_on) REQUIRE((failed || !refused || now == after));
    // And everything goes on as if nothing had been.
    deed.prepare();
    deed.run();
    REQUIRE(deed.state() == after);
    const auto now_held = held();
    if (number == 0) usual = now_held;
    REQUIRE(now_held.first == usual.first);
    REQUIRE(now_held.second == usual.second);
  }
  MESSAGE(number << " allocations refused in turn");
}
void check_refusals(const Deed& deed) {
  check_refusals(deed, Refusal::from_then_on);
  check_refusals(deed, Refusal::once);
}

// One step of Adam with clipped gradients.
void check_step(bool first) {
  manual_seed(3);
  Net net;
  const Tensor ids = randint(0, 40, {3, 7}), classes = randint(0, 5, {3});
  auto adam = std::make_unique<Adam>(net.parameters());
  const auto step = [&] {
    manual_seed(5);
    adam->zero_grad();
    const Tensor loss = F::cross_entropy(net(ids), classes);
    loss.backward();
    clip_grad_norm_(net.parameters(), 0.1);
    adam->step();
  };
  if (!first) step();
  const StateDict start = clones(net.state_dict()), remembered = clones(adam->state_dict());
  check_refusals({[&] {
                    net.load_state_dict(start);
                    adam = std::make_unique<Adam>(net.parameters());
                    adam->load_state_dict(remembered);
                    net.zero_grad();
                  },
                  step,
                  [&] { return bytes_of_all(net.state_dict()) + bytes_of_all(adam->state_dict()); }});
}

}  // namespace

TEST_CASE("memory ends in the first step of a training") { check_step(true); }
TEST_CASE("memory ends in a later step of a training") { check_step(false); }
