// Operations over the rows of x [rows, cols], forward and backward.
#include <bench.h>  // of the side that is built

namespace bench {
namespace {

struct Size {
  int64_t rows, cols;
  std::string name() const { return std::to_string(rows) + "x" + std::to_string(cols); }
  int64_t bytes() const { return 5 * 4 * rows * cols; }
};

}  // namespace

void add_rows() {
  // Softmax over the last axis.
  for (const Size size : {Size{4096, 64}, {4096, 512}, {512, 8192}}) {
    add("softmax/" + size.name(), [size](State& state) {
      const Tensor x = leaf({size.rows, size.cols});
      time_forward_backward(state, {x}, [&] { return side::softmax(x, -1); });
      count_bytes(state, size.bytes());
    })->Unit(benchmark::kMillisecond);
  }

  // Normalise the last axis, then scale and shift.
  for (const Size size : {Size{4096, 256}, {4096, 1024}}) {
    add("layer_norm/" + size.name(), [size](State& state) {
      const Tensor x = leaf({size.rows, size.cols}), scale = leaf({size.cols}), shift = leaf({size.cols});
      time_forward_backward(state, {x, scale, shift},
                            [&] { return side::layer_norm(x, {size.cols}, scale, shift, 1e-5); });
      count_bytes(state, size.bytes());
    })->Unit(benchmark::kMillisecond);
  }

  // Mean over the rows of -log softmax(x)[label]: 3 passes (read x; read x, write dx).
  add("cross_entropy/4096x1000", [](State& state) {
    const Tensor x = leaf({4096, 1000}), labels = ids(0, 1000, {4096});
    time_forward_backward(state, {x}, [&] { return cross_entropy(x, labels); });
    count_bytes(state, 3 * 4 * 4096 * 1000);
  })->Unit(benchmark::kMillisecond);
}

}  // namespace bench
