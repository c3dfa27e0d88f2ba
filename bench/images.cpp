// Convolutions and batch norm of images, forward and backward.
#include <bench.h>  // of the side that is built

namespace bench {
namespace {

// Images [n, in, size, size] and filters [out, in, kernel, kernel], with padding (kernel - 1) / 2.
struct Convolution {
  int64_t n, in, size, out, kernel, stride = 1;

  std::string name() const {
    const auto text = [](int64_t number) { return std::to_string(number); };
    return text(n) + "x" + text(in) + "x" + text(size) + "x" + text(size) + "->" + text(out) + "k" +
           text(kernel) + (stride > 1 ? "s" + text(stride) : "");
  }
  double flops() const {
    const int64_t windows = (size - 1) / stride + 1;
    return 6.0 * static_cast<double>(n * windows * windows * in * out * kernel * kernel);
  }
};

}  // namespace

void add_images() {
  for (const Convolution c : {Convolution{32, 3, 32, 32, 3},
                              {32, 64, 16, 64, 3},
                              {16, 128, 14, 128, 3},
                              {8, 64, 56, 128, 3, 2},
                              {16, 256, 14, 64, 1}})
    add("conv2d/" + c.name(), [c](State& state) {
      const Tensor x = leaf({c.n, c.in, c.size, c.size}), weight = leaf({c.out, c.in, c.kernel, c.kernel});
      const Tensor bias = leaf({c.out});
      time_forward_backward(state, {x, weight, bias},
                            [&] { return convolution(x, weight, bias, c.stride, (c.kernel - 1) / 2); });
      count_flops(state, c.flops());
    })->Unit(benchmark::kMillisecond);

  // Training, with running statistics.
  for (const auto [n, channels, size] : {std::array<int64_t, 3>{32, 64, 16}, {8, 64, 56}}) {
    const std::string shape = std::to_string(n) + "x" + std::to_string(channels) + "x" +
                              std::to_string(size) + "x" + std::to_string(size);
    add("batch_norm/" + shape, [n = n, channels = channels, size = size](State& state) {
      const Tensor x = leaf({n, channels, size, size}), weight = leaf({channels}), bias = leaf({channels});
      const Tensor mean = side::zeros({channels}), var = side::ones({channels});
      time_forward_backward(state, {x, weight, bias}, [&] { return batch_norm(x, mean, var, weight, bias); });
      count_bytes(state, 5 * 4 * n * channels * size * size);
    })->Unit(benchmark::kMillisecond);
  }
}

}  // namespace bench
