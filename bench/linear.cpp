// y = x W^T + c, forward and backward: three matrix products and two passes for the bias.
#include <bench.h>  // of the side that is built

namespace bench {
namespace {

void add_size(int64_t batch, int64_t in, int64_t out) {
  add("linear/" + std::to_string(batch) + "x" + std::to_string(in) + "->" + std::to_string(out),
      [=](State& state) {
        const Tensor x = leaf({batch, in}), weight = leaf({out, in}), bias = leaf({out});
        time_forward_backward(state, {x, weight, bias}, [&] { return side::linear(x, weight, bias); });
        count_flops(state, 6.0 * static_cast<double>(batch * in * out));
      })
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

void add_linear() {
  add_size(64, 256, 256);
  add_size(2048, 256, 1024);
  add_size(4096, 1024, 1024);
}

}  // namespace bench
