// Convolutions, pooling and norms of channels against PyTorch 2.13, and their errors.
#include "autograd/ops/conv.h"

#include "tests/support/expect.h"
#include "tests/support/wave.h"

namespace {

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
    {[](auto& in) { return conv1d(in[0], in[1], in[2], {.stride = 2, .padding = 1}); },
     {{2, 3, 9}, {4, 3, 3}, {4}}, {2, 4, 5}, {-8.67350154325634, -1.43601603864502, 0.0347902823162941, 0.675013272331523}},
    {[](auto& in) { return conv1d(in[0], in[1], {}, {.dilation = 2}); },
     {{3, 7}, {2, 3, 4}}, {2, 1}, {1.04058799393958, 3.8723551475476, -0.526400834201396}},
    {[](auto& in) { return conv1d(in[0], in[1], in[2], {.padding = "same", .groups = 2}); },
     {{2, 4, 6}, {6, 2, 3}, {6}}, {2, 6, 6}, {-0.236042894322027, 2.35036780903866, 1.24639357389796, -1.4904742234363}},
    {[](auto& in) { return conv1d(in[0], in[1], in[2], {.padding = "same", .dilation = 3, .groups = 2}); },
     {{2, 4, 6}, {6, 2, 4}, {6}}, {2, 6, 6}, {2.36334939014283, 0.856942540462498, 0.00818651312899121, -1.4904742234363}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2]); },
     {{2, 3, 6, 5}, {4, 3, 3, 3}, {4}}, {2, 4, 4, 3}, {11.6686403466547, -1.43321391644987, 1.64209814862517, 0.670469952719072}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2], {.stride = {2, 1}, .padding = {1, 0}}); },
     {{2, 3, 6, 5}, {4, 3, 3, 2}, {4}}, {2, 4, 3, 4}, {10.7210327363856, -4.67933255133083, 2.36582193872487, 0.670469952719072}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2], {.stride = 3, .padding = 2, .dilation = {2, 1}}); },
     {{2, 3, 7, 8}, {4, 3, 3, 3}, {4}}, {2, 4, 3, 4}, {9.97236312386487, -0.327303695966567, 2.58831933398967, 0.670469952719072}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2], {.padding = 1, .groups = 2}); },
     {{2, 4, 5, 5}, {6, 2, 3, 3}, {6}}, {2, 6, 5, 5}, {6.88237774038995, -0.412047171089563, -4.01239279958555, -0.0565043800627226}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2], {.stride = 2, .padding = 1, .groups = 3}); },
     {{2, 3, 5, 4}, {6, 1, 3, 3}, {6}}, {2, 6, 3, 2}, {3.42021693997843, 10.3186844854181, -1.01624218263054, -1.4904742234363}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2]); },
     {{2, 5, 4, 3}, {7, 5, 1, 1}, {7}}, {2, 7, 4, 3}, {3.05145056571073, 0.030010344963405, -1.46199987291049, 0.157054039435333}},
    {[](auto& in) { return conv2d(in[0], in[1], {}, {.stride = 2}); },
     {{2, 5, 4, 3}, {7, 5, 1, 1}}, {2, 7, 2, 2}, {-0.475298181418866, -0.212060266336171, -0.0174858237268717}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2], {.padding = 1}); },
     {{2, 5, 4, 3}, {7, 5, 1, 1}, {7}}, {2, 7, 6, 5}, {-4.61584600772492, -0.112305453682538, -6.54248842794934, -1.44193768458795}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2], {.padding = 4}); },
     {{1, 2, 3, 2}, {3, 2, 3, 3}, {3}}, {1, 3, 9, 8}, {7.62502889406009, -0.699381577659489, 0.50245019119674, -0.314933482780121}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2], {.padding = "same"}); },
     {{3, 6, 5}, {4, 3, 2, 4}, {4}}, {4, 6, 5}, {-0.131028485195365, -34.3557206892706, -1.83964087439585, 0.34342187972594}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2], {.stride = 2, .padding = 2}); },
     {{2, 1, 11, 13}, {5, 1, 5, 5}, {5}}, {2, 5, 6, 7}, {2.81944402199126, -0.426853772816924, -0.733724075466395, 0.686963219893258}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2]); },
     {{2, 2, 1, 1}, {3, 2, 1, 1}, {3}}, {2, 3, 1, 1}, {1.18435466817337, 1.33048900099834, 2.66957001721851, -0.6818242294017}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2]); },
     {{2, 3, 5, 6}, {4, 3, 5, 6}, {4}}, {2, 4, 1, 1}, {-2.29097797491342, 1.89829930682737, 1.70259050297136, 0.874734395715443}},
    {[](auto& in) { return conv2d(in[0], in[1], in[2]); },
     {{0, 3, 5, 6}, {4, 3, 2, 2}, {4}}, {0, 4, 4, 5}, {0, 0, 0, 0}},
    {[](auto& in) { return conv_transpose1d(in[0], in[1], in[2], {.stride = 2, .padding = 1, .output_padding = 1}); },
     {{2, 3, 5}, {3, 4, 3}, {4}}, {2, 4, 10}, {-0.549530566889624, 4.03547706573541, 0.462866696938608, 1.14666585625262}},
    {[](auto& in) { return conv_transpose1d(in[0], in[1], {}, {.dilation = 2}); },
     {{3, 5}, {3, 2, 4}}, {2, 11}, {-0.527778721054334, -3.67029639446141, -0.677486937148989}},
    {[](auto& in) { return conv_transpose2d(in[0], in[1], in[2]); },
     {{2, 3, 4, 5}, {3, 4, 3, 3}, {4}}, {2, 4, 6, 7}, {7.41227848593778, -0.0109473191548425, 2.84325552491686, 0.686258596234984}},
    {[](auto& in) { return conv_transpose2d(in[0], in[1], in[2], {.stride = {2, 3}, .padding = {1, 0}, .output_padding = {1, 2}}); },
     {{2, 3, 4, 5}, {3, 4, 3, 2}, {4}}, {2, 4, 8, 16}, {1.8164280937693, -17.7198613963056, -1.7754649514026, -0.758965373386831}},
    {[](auto& in) { return conv_transpose2d(in[0], in[1], in[2], {.stride = 2, .padding = 2, .groups = 2}); },
     {{2, 4, 3, 3}, {4, 3, 3, 3}, {6}}, {2, 6, 3, 3}, {5.38285597981608, -0.117034814431499, -2.71678476412122, 1.8169157370461}},
    {[](auto& in) { return conv_transpose2d(in[0], in[1], in[2], {.dilation = 3, .groups = 2, .output_padding = {2, 1}}); },
     {{2, 4, 3, 3}, {4, 3, 2, 2}, {6}}, {2, 6, 8, 7}, {0.0324166565471717, -3.02496138752766, 0.0189774138373099, 0.750816253991679}},
    {[](auto& in) { return conv_transpose2d(in[0], in[1], in[2], {.dilation = 2, .output_padding = 1}); },
     {{2, 4, 3, 3}, {4, 3, 1, 1}, {3}}, {2, 3, 4, 4}, {-1.95467594105025, -2.60586581023101, 0.186903667184751, -0.282256635268111}},
    {[](auto& in) { return conv_transpose2d(in[0], in[1], in[2], {.padding = 2, .dilation = 2, .groups = 4}); },
     {{2, 4, 4, 4}, {4, 1, 3, 3}, {4}}, {2, 4, 4, 4}, {-1.30304966586887, 5.6379411045938, -0.0270013304039223, -0.279802865310889}},
    {[](auto& in) { return conv_transpose2d(in[0], in[1], in[2], {.stride = 2}); },
     {{0, 3, 4, 5}, {3, 4, 3, 3}, {4}}, {0, 4, 9, 11}, {0, 0, 0, 0}},
    {[](auto& in) { return unfold(in[0], {2, 3}, {.stride = {1, 2}, .padding = 1, .dilation = 2}); },
     {{2, 3, 5, 6}}, {2, 18, 10}, {-0.0466317884870096, -0.468875094773713}},
    {[](auto& in) { return unfold(in[0], 2); },
     {{3, 4, 4}}, {12, 9}, {1.94902490603871, 2.15971514842565}},
    {[](auto& in) { return fold(in[0], {5, 6}, 2); },
     {{2, 12, 20}}, {2, 3, 5, 6}, {-2.4556042528337, -0.548040229064496}},
    {[](auto& in) { return fold(in[0], {5, 6}, 2, {.stride = {2, 3}, .padding = 1, .dilation = 2}); },
     {{12, 6}}, {3, 5, 6}, {-2.27833969149116, 0.239424924494574}},
    {[](auto& in) { return max_pool2d(in[0], 2); },
     {{2, 2, 5, 6}}, {2, 2, 2, 3}, {2.49454719368515, 2.94059098456547}},
    {[](auto& in) { return max_pool2d(in[0], 3, {.stride = 1, .padding = 1}); },
     {{2, 2, 5, 6}}, {2, 2, 5, 6}, {-1.07335920920676, -4.71681114962511}},
    {[](auto& in) { return max_pool2d(in[0], 3, {.stride = 2, .ceil_mode = true}); },
     {{2, 2, 5, 6}}, {2, 2, 2, 3}, {2.50247501790838, -0.602351136133476}},
    {[](auto& in) { return max_pool2d(in[0], 2, {.stride = 3, .padding = 1, .ceil_mode = true}); },
     {{2, 2, 5, 6}}, {2, 2, 2, 3}, {1.19350942673372, 2.31303472385753}},
    {[](auto& in) { return max_pool2d(in[0], {3, 2}, {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}}); },
     {{2, 2, 5, 6}}, {2, 2, 3, 4}, {-2.0160567368462, 3.10741865472779}},
    {[](auto& in) { return max_pool1d(in[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true}); },
     {{2, 3, 7}}, {2, 3, 4}, {1.4931895801978, -0.706961618353181}},
    {[](auto& in) { return max_pool1d(in[0], 2, {.dilation = 3}); },
     {{3, 8}}, {3, 3}, {0.692099610321732, 3.7487813675929}},
    {[](auto& in) { return avg_pool2d(in[0], 2); },
     {{2, 2, 5, 6}}, {2, 2, 2, 3}, {0.31351276505031, 1.44108278123902}},
    {[](auto& in) { return avg_pool2d(in[0], 3, {.stride = 1, .padding = 1}); },
     {{2, 2, 5, 6}}, {2, 2, 5, 6}, {-1.20343011573679, 0.224083045722409}},
    {[](auto& in) { return avg_pool2d(in[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true}); },
     {{2, 2, 5, 6}}, {2, 2, 3, 4}, {-0.259389674800207, 2.04998479984751}},
    {[](auto& in) { return avg_pool2d(in[0], 3, {.stride = 2, .padding = 1, .count_include_pad = false}); },
     {{2, 2, 5, 6}}, {2, 2, 3, 3}, {-0.245958455787414, -1.68208803604908}},
    {[](auto& in) { return avg_pool2d(in[0], {3, 2}, {.stride = {3, 2}, .padding = {1, 0}, .ceil_mode = true, .count_include_pad = false}); },
     {{2, 2, 5, 6}}, {2, 2, 2, 3}, {0.308781259842835, 2.18618839787288}},
    {[](auto& in) { return avg_pool2d(in[0], {3, 3}, {.stride = {3, 2}, .padding = {1, 0}, .ceil_mode = true}); },
     {{2, 2, 5, 6}}, {2, 2, 2, 3}, {0.231576581055017, 1.47216325593167}},
    {[](auto& in) { return avg_pool2d(in[0], {2, 3}, {.divisor_override = 5}); },
     {{2, 2, 5, 6}}, {2, 2, 2, 2}, {-0.106342012063866, -0.614154763945138}},
    {[](auto& in) { return avg_pool1d(in[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true}); },
     {{2, 3, 7}}, {2, 3, 4}, {0.335435211496738, -1.45513040269112}},
    {[](auto& in) { return batch_norm(in[0], {}, {}, in[1], in[2], true); },
     {{4, 3}, {3}, {3}}, {4, 3}, {0.547927342937675, 1.25099576475002, -1.61272282145821, -0.677034515468668}},
    {[](auto& in) { return batch_norm(in[0], {}, {}, in[1], in[2], true, 0.1, 0.3); },
     {{2, 3, 4, 5}, {3}, {3}}, {2, 3, 4, 5}, {0.361265110523859, -0.0121594399520459, -0.218558004452969, 0.993883113534971}},
    {[](auto& in) { return group_norm(in[0], 2, in[1], in[2]); },
     {{2, 4, 3}, {4}, {4}}, {2, 4, 3}, {8.42655219364681, -0.264902083648702, 2.17560047443943, 1.17046661605153}},
    {[](auto& in) { return group_norm(in[0], 3, in[1], in[2], 0.3); },
     {{2, 3, 2, 2}, {3}, {3}}, {2, 3, 2, 2}, {9.08959620581515, 0.179576276132415, 0.703440868176099, 0.912759012968552}},
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
  CHECK_ERROR(conv2d(x, w),
              "conv2d: x is [1, 4, 5, 5] with 4 channels, the weight [6, 2, 3, 3] is for 2 in 1 group");
  CHECK_ERROR(
      conv2d(x, w, {}, {.groups = 4}),
      "conv2d: groups is 4, the weight [6, 2, 3, 3]; the number of groups must be positive and divide its "
      "first size");
  CHECK_ERROR(conv2d(x, w, zeros({5}), {.groups = 2}),
              "conv2d: bias is [5], x is [1, 4, 5, 5]; bias must be [6]");
  CHECK_ERROR(
      conv2d(x, w, {}, {.dilation = 3, .groups = 2}),
      "conv2d: the window covers 7 positions, and x is [1, 4, 5, 5] with 0 more on each side; enlarge the "
      "padding, or shrink the kernel or the dilation");
  CHECK_ERROR(conv2d(x, w, {}, {.stride = {1, 2, 3}, .groups = 2}),
              "conv2d: stride is [1, 2, 3]; give one number, or one for each of 2 dimensions");
  CHECK_ERROR(conv2d(x, w, {}, {.stride = 0, .groups = 2}), "conv2d: stride is [0]; it must be at least 1");
  CHECK_ERROR(conv2d(x, w, {}, {.padding = -1, .groups = 2}),
              "conv2d: padding is [-1]; it must be at least 0");
  CHECK_ERROR(conv2d(x, w, {}, {.stride = 2, .padding = "same", .groups = 2}),
              "conv2d: stride is [2] and padding \"same\"; give the padding as numbers");
  CHECK_ERROR(conv2d(x, w, {}, {.padding = "full"}),
              "padding is \"full\"; it must be \"same\", \"valid\" or numbers");
  CHECK_ERROR(
      conv2d(to(x, float64), w),
      "conv2d: x is float64 [1, 4, 5, 5], the weight float32 [6, 2, 3, 3]; convert x with to(x, float32)");
  CHECK_ERROR(conv2d(zeros({5, 5}), w), "conv2d: x is [5, 5]; it must be [N, C, H, W] or [C, H, W]");
  CHECK_ERROR(conv1d(zeros({2, 4, 5}), w), "conv1d: the weight is [6, 2, 3, 3]; it must have 3 dimensions");
  CHECK_ERROR(
      conv_transpose2d(x, w),
      "conv_transpose2d: x is [1, 4, 5, 5] with 4 channels, the weight [6, 2, 3, 3] is for 6 in 1 group");
  CHECK_ERROR(
      conv_transpose1d(zeros({6, 5}), zeros({6, 2, 3}), {}, {.stride = 2, .output_padding = 2}),
      "conv_transpose1d: output_padding is [2]; it must be less than the stride [2] or the dilation [1]");
  CHECK_ERROR(conv_transpose1d(zeros({6, 1}), zeros({6, 2, 1}), {}, {.padding = 1}),
              "conv_transpose1d: x is [6, 1] and padding [1], which makes a size of -1; it must be positive");
  CHECK_ERROR(fold(zeros({8, 5}), 3, 2),
              "fold: x is [1, 8, 5], and an image of [3] has 4 windows of 4 elements; x must be [N, C 4, 4]");
}

TEST_CASE("pooling: errors say what does not fit") {
  const Tensor x = zeros({2, 4, 4});
  CHECK_ERROR(
      max_pool2d(x, 2, {.padding = 2}),
      "max_pool2d: padding is [2] and the window covers 2 positions; at most half of them may be padding");
  CHECK_ERROR(
      avg_pool2d(x, {2, 5}),
      "avg_pool2d: the window covers 5 positions, and x is [2, 4, 4] with 0 more on each side; enlarge the "
      "padding, or shrink the kernel or the dilation");
  CHECK_ERROR(avg_pool2d(x, 2, {.divisor_override = 0}), "avg_pool2d: divisor_override is 0; it must not be");
  CHECK_ERROR(max_pool1d(zeros({4, 1}), 2, {.padding = 1, .dilation = 2}),
              "max_pool1d: the dilation 2 exceeds the size 1 of x, so that a window has no element");
  CHECK_ERROR(max_pool1d(zeros({4}), 2), "max_pool1d: x is [4]; it must be [N, C, T] or [C, T]");
}

TEST_CASE("max pooling: ties, NaN and infinities as in PyTorch") {
  const Tensor x = tensor({{{1, 1, 0}, {1, 1, 0}}}, float64).requires_grad_();
  sum(max_pool2d(x, 2, {.stride = 1})).backward();
  CHECK(values(x.grad()) == Values{1, 1, 0, 0, 0, 0});  // the first of equal elements
  CHECK(std::isnan(max_pool1d(tensor({{1, kNaN, 2}}), 3).item()));
  CHECK(max_pool1d(tensor({{-kInf, -kInf}}), 2, {.padding = 1}).shape() == Shape{1, 2});
  CHECK(values(max_pool1d(tensor({{-5, -7}}), 2, {.padding = 1})) == Values{-5, -7});
  const Tensor lowest = full({1, 2, 2}, -kInf).requires_grad_();
  sum(max_pool2d(lowest, 2, {.padding = 1})).backward();  // to an element of x, not to its padding
  CHECK(values(lowest.grad()) == Values{1, 1, 1, 1});
}

TEST_CASE("batch norm: errors") {
  const Tensor x = zeros({2, 3, 4});
  CHECK_ERROR(batch_norm(x, {}, {}), "batch_norm: evaluation needs running_mean and running_var");
  CHECK_ERROR(batch_norm(x, {}, {}, zeros({4}), {}, true),
              "batch_norm: weight is [4], x is [2, 3, 4]; weight must be [3]");
  CHECK_ERROR(
      batch_norm(zeros({1, 3}), {}, {}, {}, {}, true),
      "batch_norm: x is [1, 3], one value in each channel, which has no variance; train on more examples, "
      "or call eval()");
  CHECK_ERROR(group_norm(x, 2),
              "group_norm: x is [2, 3, 4] and num_groups is 2; it must divide the number of channels, 3");
}
