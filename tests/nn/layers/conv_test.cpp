#include "nn/layers/conv.h"

#include "nn/debug/check_module.h"
#include "tests/support/expect.h"

TEST_CASE("Conv2d: shapes, names, start values") {
  const Conv2d layer(4, 6, {3, 5}, {.stride = 2, .padding = {1, 2}, .groups = 2});
  CHECK(layer.weight.shape() == Shape{6, 2, 3, 5});
  CHECK(layer.bias.shape() == Shape{6});
  CHECK(layer(zeros({2, 4, 8, 9})).shape() == Shape{2, 6, 4, 5});
  CHECK(layer(zeros({4, 8, 9})).shape() == Shape{6, 4, 5});
  CHECK(test::names(layer.named_parameters()) == Texts{"weight", "bias"});
  CHECK(layer.weight.requires_grad());
  check_fills(Conv2d(16, 64, 5).weight, 1 / std::sqrt(400.0), 0.99);
  check_fills(Conv2d(16, 64, 5).bias, 1 / std::sqrt(400.0));
  CHECK(Conv2d(2, 3, 1, {.bias = false}).parameters().size() == 1);
  CHECK(Conv2d(2, 3, 4, {.padding = "same"})(zeros({2, 5, 5})).shape() == Shape{3, 5, 5});
}

TEST_CASE("Conv1d and transposed convolutions: shapes, names, start values") {
  CHECK(Conv1d(3, 4, 3, {.dilation = 2})(zeros({2, 3, 9})).shape() == Shape{2, 4, 5});
  CHECK(Conv1d(3, 4, 3).weight.shape() == Shape{4, 3, 3});
  const ConvTranspose2d up(4, 6, 4, {.stride = 2, .padding = 1, .groups = 2});
  CHECK(up.weight.shape() == Shape{4, 3, 4, 4});
  CHECK(up.bias.shape() == Shape{6});
  CHECK(up(zeros({2, 4, 5, 6})).shape() == Shape{2, 6, 10, 12});
  check_fills(up.weight, 1 / std::sqrt(48.0));
  const ConvTranspose1d signal(2, 3, 3, {.stride = 3, .bias = false, .output_padding = 1});
  CHECK(signal(zeros({2, 4})).shape() == Shape{3, 13});
  CHECK(test::names(signal.named_parameters()) == Texts{"weight"});
}

TEST_CASE("convolutional layers obey the contract of modules") {
  const Tensor image = randn({3, 2, 4, 3}), signal = randn({3, 2, 5});
  for (const ModuleReport& report :
       {check_module([] { return Conv2d(2, 3, 2, {.padding = 1}); }, {image}),
        check_module([] { return Conv1d(2, 2, 3, {.stride = 2, .groups = 2}); }, {signal}),
        check_module([] { return ConvTranspose2d(2, 3, 2, {.stride = 2}); }, {image}),
        check_module([] { return ConvTranspose1d(2, 2, 3); }, {signal})})
    CHECK_MESSAGE(report.ok(), to_string(report));
}

TEST_CASE("convolutional layers: errors") {
  CHECK_THROWS_WITH_AS(Conv2d(3, 4, 3, {.groups = 2}),
                       "convolution: groups is 2, for 3 channels in and 4 out; it must divide both", Error);
  CHECK_THROWS_WITH_AS(Conv1d(2, 4, {3, 3}),
                       "the kernel size is [3, 3]; give one number, or one for each of 1 dimension", Error);
  CHECK_THROWS_AS(Conv2d(3, 4, 3)(zeros({2, 4, 5, 5})), Error);
}
