#include "tensor/kernels/recurrent.h"

#include "autograd/ops/recurrent.h"
#include "tests/support/references.h"

TEST_CASE("recurrence: the kernel and its gradients equal public operations and the plain loops") {
  Generator generator(4);
  for (const auto kind : {Recurrence::rnn_tanh, Recurrence::rnn_relu, Recurrence::gru, Recurrence::lstm})
    for (const int64_t batch : {1, 3, 70, 150})  // one to three blocks of sequences
      for (const bool other_way : {false, true}) {
        const int64_t steps = 4, hidden = batch == 3 ? 1 : 5, gates = gate_count(kind) * hidden;
        const int64_t size = kind == Recurrence::lstm ? 2 * hidden : hidden;
        const Tensor weight = 0.5 * randn({gates, hidden}, float64, &generator);
        const Tensor bias = randn({gates}, float64, &generator);
        const Tensor state = randn({batch, size}, float64, &generator);
        const Tensor lengths = randint(0, 5, {batch}, &generator);
        // Memory with the time or the batch first.
        const Tensor x = other_way ? transpose(randn({batch, steps, gates}, float64, &generator), 0, 1)
                                   : randn({steps, batch, gates}, float64, &generator);
        const auto apart = [&](const Tensors& in, const RecurrenceOptions& options) {
          return from_reference([&](auto& t) { return recurrence(kind, t[0], t[1], t[2], t[3], options); },
                                in);
        };
        INFO("kind ", static_cast<int>(kind), ", batch ", batch, ", other way ", other_way);
        CHECK(apart({x, state, weight, bias}, {.lengths = lengths, .reverse = other_way}) < 1e-12);
        CHECK(apart({x, {}, weight, {}}, {.reverse = !other_way}) < 1e-12);
        CHECK(apart({to(x, float32), {}, to(weight, float32), to(bias, float32)}, {.lengths = lengths}) <
              1e-4);
        // A weight with gaps between rows, and a repeated state.
        CHECK(
            apart({x, expand(state[0], {batch, size}), narrow(cat({weight, weight}, 1), 1, 0, hidden), bias},
                  {}) < 1e-12);
        const auto kernels = [&](const Tensor& ends) {
          return kernel::recurrent_forward({kind, other_way, ends}, x, state, weight, bias, true);
        };
        CHECK(from_plain([&] { return Tensors{kernels(lengths).y}; }) < 1e-12);
        const auto gates_of = [&] { return kernels({}).gates; };
        if (gates_of().defined()) CHECK(from_plain([&] { return Tensors{gates_of()}; }) < 1e-12);
        const Tensor y = recurrence(kind, x, state, weight);
        CHECK((reference_mode() || transpose(y, 0, 1).is_contiguous() == (other_way || batch == 1)));
      }
}

TEST_CASE("recurrence: without a gradient no gates are kept") {
  const Tensor x = randn({50, 2, 12}), weight = randn({12, 3}), state = randn({2, 6});
  const kernel::RecurrentRule rule{Recurrence::lstm, false, {}};
  const kernel::RecurrentResult kept = kernel::recurrent_forward(rule, x, state, weight, {}, true);
  const kernel::RecurrentResult bare = kernel::recurrent_forward(rule, x, state, weight, {}, false);
  CHECK(kept.gates.shape() == Shape{50, 2, 12});
  CHECK(!bare.gates.defined());
  CHECK(values(bare.y) == values(kept.y));
}
