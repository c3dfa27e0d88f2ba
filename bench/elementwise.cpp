// Elementwise operations on N values, forward and backward.
#include <bench.h>  // of the side that is built

namespace bench {
namespace {

// y = op(x): 5 passes over N floats (read x, write y; read g and x or y, write dx).
template <class Op>
void unary(const std::string& name, int64_t n, Op op) {
  add("elementwise_" + name + "/" + std::to_string(n), [n, op](State& state) {
    const Tensor x = leaf({n});
    time_forward_backward(state, {x}, [&] { return op(x); });
    count_bytes(state, 5 * 4 * n);
  })->Unit(benchmark::kMillisecond);
}

}  // namespace

void add_elementwise() {
  for (const int64_t n : {1'000'000, 16'000'000}) {
    // y = a + b, both with a gradient: 6 passes.
    add("elementwise_add/" + std::to_string(n), [n](State& state) {
      const Tensor a = leaf({n}), b = leaf({n});
      time_forward_backward(state, {a, b}, [&] { return a + b; });
      count_bytes(state, 6 * 4 * n);
    })->Unit(benchmark::kMillisecond);

    unary("exp", n, [](const Tensor& x) { return side::exp(x); });
    unary("tanh", n, [](const Tensor& x) { return side::tanh(x); });
    unary("gelu", n, [](const Tensor& x) { return side::gelu(x); });  // the exact one, with erf
  }
}

}  // namespace bench
