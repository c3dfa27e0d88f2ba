#include "tensor/kernels/conv.h"

#include <random>

#include "tests/support/references.h"

namespace {

using kernel::WindowAxis;
using kernel::Windows;

// The axis with the number of windows that fit.
WindowAxis fitting(WindowAxis a) {
  a.windows = (a.in + 2 * a.padding - (a.size - 1) * a.dilation - 1) / a.stride + 1;
  return a;
}

struct ConvCase {
  int64_t n, channels, out;
  WindowAxis h, w;
  int64_t groups = 1;
};

Windows windows_of(const ConvCase& c) {
  const auto given = [](const WindowAxis& a) { return a.windows > 1 ? a : fitting(a); };
  return {given(c.h), given(c.w), c.groups};
}

// Random numbers whose last dimensions are not in memory order.
Tensor strided_randn(const Shape& shape, DType dtype, Generator& generator) {
  Shape turned = shape;
  std::reverse(turned.begin(), turned.end());
  return permute(randn(turned, dtype, &generator), {3, 2, 1, 0});
}

// All kernels of one convolution.
Tensors all_of(const ConvCase& c, DType dtype) {
  Generator generator(4);
  const Windows windows = windows_of(c);
  const Tensor x = strided_randn({c.n, c.channels, c.h.in, c.w.in}, dtype, generator);
  const Tensor y = strided_randn({c.n, c.out, windows.h.windows, windows.w.windows}, dtype, generator);
  const Tensor weight = strided_randn({c.out, c.channels / c.groups, c.h.size, c.w.size}, dtype, generator);
  const Tensor bias = randn({c.out}, dtype, &generator), of_x = randn({c.channels}, dtype, &generator);
  const Tensor columns = kernel::unfold(x, windows);
  return {kernel::convolution({x, weight, Tensor()}, bias, windows),
          kernel::convolution({contiguous(x), weight, Tensor()}, {}, windows),
          kernel::convolution({Tensor(), weight, y}, of_x, windows),
          kernel::convolution({Tensor(), weight, y}, {}, windows),
          kernel::convolution({x, Tensor(), y}, {}, windows),
          columns,
          kernel::fold(transpose(contiguous(transpose(columns, 0, 2)), 0, 2), windows)};
}

// {in, windows, size, stride, padding, dilation}
const ConvCase cases[] = {
    {2, 3, 4, {.in = 5, .size = 3}, {.in = 6, .size = 2}},
    {2,
     3,
     4,
     {.in = 9, .size = 3, .stride = 2, .padding = 1},
     {.in = 6, .size = 3, .stride = 3, .padding = 2}},
    {2, 4, 6, {.in = 8, .size = 2, .padding = 1, .dilation = 3}, {.in = 7, .size = 3, .dilation = 2}, 2},
    {2, 3, 6, {.in = 8, .size = 3, .padding = 1}, {.in = 9, .size = 3, .padding = 1}, 3},
    {3, 5, 7, {.in = 4, .size = 1}, {.in = 5, .size = 1}},
    {2, 3, 8, {.in = 17, .size = 1}, {.in = 18, .size = 1}},  // the image itself is multiplied
    {2, 3, 8, {.in = 9, .size = 1, .stride = 2, .padding = 1}, {.in = 8, .size = 1, .stride = 3}},
    {1, 2, 3, {.in = 3, .size = 3, .padding = 5}, {.in = 2, .size = 2, .padding = 4}},
    {70, 2, 3, {.in = 3, .size = 3, .padding = 1}, {.in = 3, .size = 3, .padding = 1}},  // several images
    {70, 2, 3, {.in = 5, .size = 3, .stride = 2, .padding = 1}, {.in = 5, .size = 3, .stride = 2}},
    {2, 60, 9, {.in = 8, .size = 3, .padding = 1}, {.in = 8, .size = 3, .padding = 1}},  // depth above 512
    {2, 60, 9, {.in = 8, .size = 3, .stride = 2}, {.in = 8, .size = 3, .padding = 1}},
    {2, 1, 2, {.in = 50, .size = 3, .padding = 1}, {.in = 45, .size = 3, .padding = 1}},  // bands of rows
    {2, 2, 2, {.in = 90, .size = 4, .stride = 2, .padding = 1}, {.in = 61, .size = 3, .stride = 2}, 2},
    {1, 1, 1, {.in = 1, .size = 1}, {.in = 2500, .size = 5, .padding = 2}},
    {2,  // a remainder has the paddings -1 and 1, and as many positions as y
     9,
     5,
     {.in = 3, .size = 3, .stride = 4, .padding = 2, .dilation = 3},
     {.in = 20, .windows = 7, .size = 3, .stride = 3, .padding = 4, .dilation = 2}},
    {2,  // the images are read in place
     3,
     20,
     {.in = 6, .size = 2},
     {.in = 40, .size = 3}},
    {1, 30, 20, {.in = 9, .size = 3, .padding = 1}, {.in = 90, .size = 3}},  // bands of rows
    {0, 3, 4, {.in = 5, .size = 3}, {.in = 6, .size = 2}},
    {2, 0, 4, {.in = 5, .size = 3}, {.in = 6, .size = 2}},
    {2, 3, 0, {.in = 5, .size = 3, .stride = 2}, {.in = 6, .size = 2}},
};

}  // namespace

TEST_CASE("convolutions, unfold and fold equal the plain loops") {
  for (const DType dtype : {float32, float64})
    for (const ConvCase& c : cases) {
      CAPTURE(&c - cases);
      CHECK(from_plain([&] { return all_of(c, dtype); }) < (dtype == float32 ? 1e-4 : 1e-12));
    }
}

TEST_CASE("convolutions of random geometry equal the plain loops") {
  std::mt19937 bits(7);
  const auto number = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(bits() % static_cast<uint64_t>(to - from + 1));
  };
  // Some windows more or fewer than fit, as transposed convolutions and pooling have.
  const auto axis = [&](int64_t most) {
    WindowAxis a{
        .size = number(1, 5), .stride = number(1, 4), .padding = number(0, 5), .dilation = number(1, 3)};
    a.in = std::max(number(1, most), (a.size - 1) * a.dilation + 1 - 2 * a.padding);
    a = fitting(a);
    if (a.windows > 1) a.windows += number(-1, 1);
    return a;
  };
  for (int i = 0; i < 300; ++i) {
    const int64_t groups = number(0, 2) > 0 ? 1 : number(2, 4);
    const int64_t channels = number(1, i % 3 == 0 ? 40 : 6), out = number(1, i % 2 == 0 ? 40 : 9);
    const ConvCase c{number(1, 3), groups * channels,          groups * out,
                     axis(12),     axis(i % 5 == 0 ? 70 : 20), groups};
    CAPTURE(i);
    CHECK(from_plain([&] { return all_of(c, float64); }) < 1e-12);
  }
}

TEST_CASE("convolutions have the same bits on any number of threads") {
  for (const ConvCase& c : cases) CHECK(same_on_threads([&] { return all_of(c, float32); }));
}

TEST_CASE("an image alone has the bits that it has in a batch") {
  Generator generator(5);
  const ConvCase c{40, 3, 20, {.in = 6, .size = 3, .padding = 1}, {.in = 5, .size = 3, .padding = 1}};
  const Windows windows = windows_of(c);
  const Tensor x = randn({40, 3, 6, 5}, float32, &generator), w = randn({20, 3, 3, 3}, float32, &generator);
  const Tensor all = kernel::convolution({x, w, Tensor()}, {}, windows);
  for (const int64_t i : {0, 7, 39})
    CHECK(bytes_of(kernel::convolution({narrow(x, 0, i, 1), w, Tensor()}, {}, windows)) ==
          bytes_of(narrow(all, 0, i, 1)));
}

TEST_CASE("what lies outside of a window does not reach it") {
  Generator generator(6);
  const ConvCase c{1, 1, 1, {.in = 6, .size = 3, .padding = 1}, {.in = 6, .size = 3, .padding = 1}};
  const Windows windows = windows_of(c);
  const Tensor x = randn({1, 1, 6, 6}, float32, &generator), w = randn({1, 1, 3, 3}, float32, &generator);
  x.mutable_data<float>()[0] = NAN;  // the upper left corner, seen by four windows
  const Values y = values(kernel::convolution({x, w, Tensor()}, {}, windows));
  for (int64_t i = 0; i < 36; ++i) CHECK(std::isnan(y[size_t(i)]) == (i % 6 < 2 && i / 6 < 2));
}
