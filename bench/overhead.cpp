// Overhead: what an operation costs besides its arithmetic. One iteration is 1000 operations.
#include <bench.h>  // of the side that is built

namespace bench {
namespace {

// c = a + b, 1000 times, on tensors of one element that require no gradient.
void forward_ops(State& state) {
  const Tensor a = side::randn({1}), b = side::randn({1});
  given({a, b});
  found(state, a + b, {});
  time_steps(state, [&] {
    for (int i = 0; i < 1000; ++i) {
      Tensor c = a + b;
      benchmark::DoNotOptimize(c);
    }
  });
  count_1000_ops(state);
}

// A chain of 500 times {x = x * w; x = x + b}, then backward through it; w and b sum 500 contributions each.
void chain(State& state, const Shape& shape) {
  const Tensor start = side::ones(shape), w = side::full(shape, 0.999).requires_grad_(),
               b = side::full(shape, 0.001).requires_grad_();
  time_forward_backward(state, {w, b}, [&] {
    Tensor x = start;
    for (int i = 0; i < 500; ++i) {
      x = x * w;
      x = x + b;
    }
    return x;
  });
  count_1000_ops(state);
}

}  // namespace

void add_overhead() {
  // Recording is on, and there is nothing to record.
  add("op_overhead_forward", forward_ops);

  // Recording is off.
  add("op_overhead_forward_nograd", [](State& state) {
    const NoRecording nothing;
    forward_ops(state);
  });

  // Forward and backward of one operation, on one element.
  add("op_overhead_autograd", [](State& state) { chain(state, {1}); });

  // The same where the arithmetic begins to count.
  add("op_overhead_small", [](State& state) { chain(state, {32, 32}); });
}

}  // namespace bench
