#include "tensor/kernels/recurrent.h"

#include <doctest/doctest.h>

#include "heed.h"
#include "tests/support/expect.h"

using namespace heed;

namespace {

// The operation and its gradients against the same in public operations: how far apart, relative to the
// larger of 1 and the value.
double against_twin(Recurrence kind, const Tensor& x, const Tensor& state, const Tensor& weight,
                    const Tensor& bias, const RecurrenceOptions& options) {
  std::vector<std::vector<Tensor>> results;
  for (const bool reference : {false, true}) {
    set_reference_mode(reference);
    std::vector<Tensor> inputs;
    for (const Tensor& input : {x, state, weight, bias})
      inputs.push_back(input.defined() ? input.detach().requires_grad_() : input);
    const Tensor y = recurrence(kind, inputs[0], inputs[1], inputs[2], inputs[3], options);
    set_reference_mode(false);
    backward(
        {y},
        {.grad_outputs = {sin(
             arange(double(y.numel()), y.dtype()).view_as(y.shape(), contiguous_strides(y.shape()), 0))}});
    std::vector<Tensor>& result = results.emplace_back(std::vector<Tensor>{y.detach()});
    for (const Tensor& input : inputs)
      if (input.defined()) result.push_back(input.grad());
  }
  double worst = 0;
  for (size_t i = 0; i < results[0].size(); ++i) {
    const Tensor &got = results[0][i], &want = results[1][i];
    REQUIRE(got.shape() == want.shape());
    worst = std::max(worst, max(abs(got - want) / maximum(1, abs(want))).item());
  }
  return worst;
}

}  // namespace

TEST_CASE("recurrence: steps in one pass give what public operations give") {
  Generator generator(4);
  for (const auto kind : {Recurrence::rnn_tanh, Recurrence::rnn_relu, Recurrence::gru, Recurrence::lstm})
    for (const int64_t batch : {1, 3, 70, 150})  // one to three shares
      for (const bool other_way : {false, true}) {
        const int64_t steps = 4, hidden = batch == 3 ? 1 : 5, gates = gate_count(kind) * hidden;
        const int64_t size = kind == Recurrence::lstm ? 2 * hidden : hidden;
        const Tensor weight = 0.5 * randn({gates, hidden}, float64, &generator);
        const Tensor bias = randn({gates}, float64, &generator);
        const Tensor state = randn({batch, size}, float64, &generator);
        const Tensor lengths = randint(0, 5, {batch}, &generator);
        // Memory has time first, or the batch.
        const Tensor x = other_way ? transpose(randn({batch, steps, gates}, float64, &generator), 0, 1)
                                   : randn({steps, batch, gates}, float64, &generator);
        INFO("kind ", static_cast<int>(kind), ", batch ", batch, ", other way ", other_way);
        CHECK(against_twin(kind, x, state, weight, bias, {.lengths = lengths, .reverse = other_way}) < 1e-12);
        CHECK(against_twin(kind, x, {}, weight, {}, {.reverse = !other_way}) < 1e-12);
        CHECK(against_twin(kind, to(x, float32), {}, to(weight, float32), to(bias, float32),
                           {.lengths = lengths}) < 1e-4);
        const Tensor y = recurrence(kind, x, state, weight);
        CHECK(transpose(y, 0, 1).is_contiguous() == (other_way || batch == 1));
        // Rows of weights and states that stand apart, or in one place.
        const Tensor wide = cat({weight, weight}, 1);
        CHECK(against_twin(kind, x, select(state, 0, 0).view_as({batch, size}, {0, 1}, 0),
                           narrow(wide, 1, 0, hidden), bias, {}) < 1e-12);
      }
}

TEST_CASE("recurrence: without a gradient the gates of one step suffice") {
  const Tensor x = randn({50, 2, 12}), weight = randn({12, 3}), state = randn({2, 6});
  const kernel::Recurrence how{kernel::Cell::lstm, false, {}};
  const kernel::States kept = kernel::recur(how, x, state, weight, {}, true);
  const kernel::States bare = kernel::recur(how, x, state, weight, {}, false);
  CHECK(kept.gates.shape() == Shape{50, 2, 12});
  CHECK(!bare.gates.defined());
  CHECK(values(bare.y) == values(kept.y));
}
