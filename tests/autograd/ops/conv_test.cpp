// Convolutions, pooling and norms of channels against PyTorch 2.13, and their errors.
#include "autograd/ops/conv.h"

#include "autograd/ops/elementwise.h"
#include "autograd/ops/pool.h"
#include "tests/support/expect.h"

namespace {

// cos(step i + start) for element i.
Tensor wave(const Shape& shape, double step, double start) {
  return reshape(cos(step * counted(shape, float64) + start), shape);
}

// One number for a tensor, in which each element has a weight of its own.
double projection(const Tensor& x) { return sum(x * wave(x.shape(), 0.37, 0)).item(); }

struct WaveCase {
  Tensor (*call)(const Tensors& in);
  std::vector<Shape> inputs;  // wave(shape, 1.3, 0.5), wave(shape, 0.7, 0.1), wave(shape, 1.1, 0)
  Shape shape;                // of the result
  Values projections;         // of the result, and of the gradients of the inputs for wave(shape, 0.9, 0.3)
};

// clang-format off
const WaveCase cases[] = {
CASES
};
// clang-format on

}  // namespace

TEST_CASE("convolutions, pooling and norms of channels: values and gradients are PyTorch's") {
  const std::pair<double, double> waves[] = {{1.3, 0.5}, {0.7, 0.1}, {1.1, 0.0}};
  for (const bool reference : {false, true})
    for (const WaveCase& one : cases) {
      CAPTURE(&one - cases);
      const Reference references(reference);
      Tensors in;
      for (size_t i = 0; i < one.inputs.size(); ++i)
        in.push_back(wave(one.inputs[i], waves[i].first, waves[i].second).requires_grad_());
      const Tensor y = one.call(in);
      CHECK(y.shape() == one.shape);
      Values got{projection(y)};
      for (const Tensor& d : grad({y}, in, {.grad_outputs = {wave(y.shape(), 0.9, 0.3)}}))
        got.push_back(projection(d));
      CHECK(largest_difference(got, one.projections, Difference::relative) < 1e-11);
    }
}

TEST_CASE("convolutions: errors say what does not fit") {
  const Tensor x = zeros({1, 4, 5, 5}), w = zeros({6, 2, 3, 3});
  CHECK_ERROR(conv2d(x, w), "conv2d: x is [1, 4, 5, 5] with 4 channels, the weight [6, 2, 3, 3] is for 2 in 1 group");
  CHECK_ERROR(conv2d(x, w, {}, {.groups = 4}),
              "conv2d: groups is 4, the weight [6, 2, 3, 3]; the number of groups must be positive and divide its "
              "first size");
  CHECK_ERROR(conv2d(x, w, zeros({5}), {.groups = 2}),
              "conv2d: bias is [5], x is [1, 4, 5, 5]; bias must be [6]");
  CHECK_ERROR(conv2d(x, w, {}, {.dilation = 3, .groups = 2}),
              "conv2d: the window covers 7 positions, and x is [1, 4, 5, 5] with 0 zeros on each side; enlarge the "
              "padding, or shrink the kernel or the dilation");
  CHECK_ERROR(conv2d(x, w, {}, {.stride = {1, 2, 3}, .groups = 2}),
              "conv2d: stride is [1, 2, 3]; give one number, or one for each of 2 dimensions");
  CHECK_ERROR(conv2d(x, w, {}, {.stride = 0, .groups = 2}), "conv2d: stride is [0]; it must be at least 1");
  CHECK_ERROR(conv2d(x, w, {}, {.padding = -1, .groups = 2}), "conv2d: padding is [-1]; it must be at least 0");
  CHECK_ERROR(conv2d(x, w, {}, {.stride = 2, .padding = "same", .groups = 2}),
              "conv2d: stride is [2] and padding \"same\"; give the padding as numbers");
  CHECK_ERROR(conv2d(x, w, {}, {.padding = "full"}),
              "padding is \"full\"; it must be \"same\", \"valid\" or numbers");
  CHECK_ERROR(conv2d(to(x, float64), w),
              "conv2d: x is float64 [1, 4, 5, 5], the weight float32 [6, 2, 3, 3]; convert x with to(x, float32)");
  CHECK_ERROR(conv2d(zeros({5, 5}), w), "conv2d: x is [5, 5]; it must be [N, C, H, W] or [C, H, W]");
  CHECK_ERROR(conv1d(zeros({2, 4, 5}), w), "conv1d: the weight is [6, 2, 3, 3]; it must have 3 dimensions");
  CHECK_ERROR(conv_transpose2d(x, w),
              "conv_transpose2d: x is [1, 4, 5, 5] with 4 channels, the weight [6, 2, 3, 3] is for 6");
  CHECK_ERROR(conv_transpose1d(zeros({6, 5}), zeros({6, 2, 3}), {}, {.stride = 2, .output_padding = 2}),
              "conv_transpose1d: output_padding is [2]; it must be less than the stride [2] or the dilation [1]");
  CHECK_ERROR(conv_transpose1d(zeros({6, 1}), zeros({6, 2, 1}), {}, {.padding = 1}),
              "conv_transpose1d: x is [6, 1] and padding [1], which makes a size of -1; it must be positive");
  CHECK_ERROR(fold(zeros({8, 5}), 3, 2),
              "fold: x is [1, 8, 5], and an image of [3] has 4 windows of 4 elements; x must be [N, C 4, 4]");
}

TEST_CASE("pooling: errors say what does not fit") {
  const Tensor x = zeros({2, 4, 4});
  CHECK_ERROR(max_pool2d(x, 2, {.padding = 2}),
              "max_pool2d: padding is [2] and the window covers 2 positions; at most half of them may be padding");
  CHECK_ERROR(avg_pool2d(x, {2, 5}),
              "avg_pool2d: the window covers 5 positions, and x is [2, 4, 4] with 0 more on each side; the window "
              "must not be larger");
  CHECK_ERROR(avg_pool2d(x, 2, {.divisor_override = 0}), "avg_pool2d: divisor_override is 0; it must not be");
  CHECK_ERROR(max_pool1d(zeros({4}), 2), "max_pool1d: x is [4]; it must be [N, C, T] or [C, T]");
}

TEST_CASE("max pooling: ties, NaN and infinities as in PyTorch") {
  const Tensor x = tensor({{{1, 1, 0}, {1, 1, 0}}}, float64).requires_grad_();
  sum(max_pool2d(x, 2, {.stride = 1})).backward();
  CHECK(values(x.grad()) == Values{1, 1, 0, 0, 0, 0});  // the first of equal elements
  CHECK(std::isnan(max_pool1d(tensor({{1, kNaN, 2}}), 3).item()));
  CHECK(max_pool1d(tensor({{-kInf, -kInf}}), 2, {.padding = 1}).shape() == Shape{1, 2});
  CHECK(values(max_pool1d(tensor({{-5, -7}}), 2, {.padding = 1})) == Values{-5, -7});
}

TEST_CASE("batch norm: errors") {
  const Tensor x = zeros({2, 3, 4});
  CHECK_ERROR(batch_norm(x, {}, {}), "batch_norm: evaluation needs running_mean and running_var");
  CHECK_ERROR(batch_norm(x, {}, {}, zeros({4}), {}, true),
              "batch_norm: weight is [4], x is [2, 3, 4]; weight must be [3]");
  CHECK_ERROR(batch_norm(zeros({1, 3}), {}, {}, {}, {}, true),
              "batch_norm: x is [1, 3], one value in each channel, which has no variance; train on more examples, "
              "or call eval()");
  CHECK_ERROR(group_norm(x, 2),
              "group_norm: x is [2, 3, 4] and num_groups is 2; it must divide the number of channels, 3");
}
