#include "autograd/ops/conv.h"

#include "autograd/node.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "tensor/kernels/conv.h"

namespace heed {

int64_t detail::number_of(const char* name, const Dims& list, int64_t axis, int64_t dims, int64_t least) {
  check(list.dim() == 1 || list.dim() == dims, name, " is ", list, "; give one number, or one for each of ",
        dims, dims == 1 ? " dimension" : " dimensions");
  const int64_t number = list[list.dim() == 1 ? 0 : axis];
  check(number >= least && number < int64_t{1} << 31, name, " is ", list, "; it must be at least ", least);
  return number;
}

namespace {

using detail::number_of;
using kernel::WindowAxis;
using kernel::Windows;

// One dimension of windows; the sizes of the image and the number of windows are still open.
WindowAxis axis_of(const Dims& size, const ConvOptions& o, int64_t axis, int64_t dims) {
  return {.size = number_of("the kernel size", size, axis, dims, 1),
          .stride = number_of("stride", o.stride, axis, dims, 1),
          .padding = number_of("padding", o.padding, axis, dims, 0),
          .dilation = number_of("dilation", o.dilation, axis, dims, 1)};
}

// The windows along a dimension of an image x.
void set_windows(WindowAxis& a, int64_t in, const ConvOptions& o, const Shape& x) {
  a.in = a.windows = in;
  const int64_t covered = (a.size - 1) * a.dilation + 1;
  if (o.padding.same) {
    check(a.stride == 1, "stride is ", o.stride, " and padding \"same\"; give the padding as numbers");
    a.padding = (covered - 1) / 2;
    return;
  }
  const int64_t rest = in + 2 * a.padding - covered;
  check(rest >= 0, "the window covers ", covered, " positions, and x is ", x, " with ", a.padding,
        " zeros on each side; enlarge the padding, or shrink the kernel or the dilation");
  a.windows = rest / a.stride + 1;
}

// The size of the image of which x, along a dimension, has one element for each window.
void set_size(WindowAxis& a, int64_t windows, const ConvOptions& o, int64_t more, const Shape& x) {
  check(!o.padding.same, "padding is \"same\"; give numbers");
  check(more < std::max(a.stride, a.dilation), "output_padding is ", o.output_padding,
        "; it must be less than the stride ", o.stride, " or the dilation ", o.dilation);
  a.windows = windows;
  a.in = a.span() - 2 * a.padding + more;
  check(windows > 0 && a.in > 0, "x is ", x, " and padding ", o.padding, ", which makes a size of ", a.in,
        "; it must be positive");
}

Tensor transposed(const char* op, Operand y, Operand weight, Operand bias, const Windows& windows);

Tensor weight_of(const Operand& x, const Operand& y, const Windows& windows);

// A convolution is linear in x and in weight. With its transpose and the sum of products that is the gradient
// of weight, it is closed under derivatives: y = x * w, x = transpose(y, w), w = weight(x, y), and each is
// the gradient of the other two.
Tensor convolved(const char* op, Operand x, Operand weight, Operand bias, const Windows& windows) {
  return record(op, kernel::conv2d(x, weight, bias, windows),
                {{x, "g, transposed convolution with $2",
                  [=, w = save(weight)](const Tensor& g) {
                    return transposed("conv_transpose2d", g, w(), {}, windows);
                  }},
                 {weight, "Σ of $1 times g over all windows",
                  [=, x = save(x)](const Tensor& g) { return weight_of(x(), g, windows); }},
                 {bias, "Σ of g over images and windows", [](const Tensor& g) {
                    return sum(g, {0, 2, 3});
                  }}});
}

Tensor transposed(const char* op, Operand y, Operand weight, Operand bias, const Windows& windows) {
  return record(
      op, kernel::conv_transpose2d(y, weight, bias, windows),
      {{y, "g, convolved with $2",
        [=, w = save(weight)](const Tensor& g) { return convolved("conv2d", g, w(), {}, windows); }},
       {weight, "Σ of g times $1 over all windows",
        [=, y = save(y)](const Tensor& g) { return weight_of(g, y(), windows); }},
       {bias, "Σ of g over images and positions", [](const Tensor& g) {
          return sum(g, {0, 2, 3});
        }}});
}

Tensor weight_of(const Operand& x, const Operand& y, const Windows& windows) {
  return record(
      "conv2d_weight", kernel::conv2d_weight(x, y, windows),
      {{x, "$2, transposed convolution with g",
        [=, y = save(y)](const Tensor& g) { return transposed("conv_transpose2d", y(), g, {}, windows); }},
       {y, "$1, convolved with g",
        [=, x = save(x)](const Tensor& g) { return convolved("conv2d", x(), g, {}, windows); }}});
}

// All four. A signal is an image of one row, and a missing batch a batch of one.
Tensor convolution(const char* op, const Operand& x, const Operand& weight, const Operand& bias,
                   const ConvOptions& o, int64_t dims, bool transposes) {
  const OpScope scope(op, x.line());
  check_floating(x);
  check(x->dtype() == weight->dtype(), "x is ", x->dtype(), " ", x->shape(), ", the weight ", weight->dtype(),
        " ", weight->shape(), "; convert x with to(x, ", weight->dtype(), ")");
  check(x->dim() == dims + 1 || x->dim() == dims + 2, "x is ", x->shape(), "; it must be ",
        dims == 1 ? "[N, C, T] or [C, T]" : "[N, C, H, W] or [C, H, W]");
  check(weight->dim() == dims + 2, "the weight is ", weight->shape(), "; it must have ", dims + 2,
        " dimensions");
  check(o.groups > 0 && weight->shape()[0] % o.groups == 0, "groups is ", o.groups, ", the weight ",
        weight->shape(), "; the number of groups must be positive and divide its first size");
  const Shape& filters = weight->shape();
  const int64_t first = x->dim() - dims, channels = x->shape()[first - 1];
  const int64_t in = transposes ? filters[0] : filters[1] * o.groups;
  const int64_t out = transposes ? filters[1] * o.groups : filters[0];
  check(channels == in, "x is ", x->shape(), " with ", channels, " channels, the weight ", filters,
        " is for ", in, " in ", o.groups, o.groups == 1 ? " group" : " groups");
  check_parameter("bias", bias, {out}, x);

  Windows windows{.h = {}, .w = {}, .groups = o.groups};
  Shape result = x->shape();
  result[first - 1] = out;
  for (int64_t d = 0; d < dims; ++d) {
    WindowAxis& a = d == dims - 1 ? windows.w : windows.h;
    a = axis_of(Shape(filters.data() + 2, dims), o, d, dims);
    int64_t& size = result[first + d];
    if (transposes)
      set_size(a, size, o, number_of("output_padding", o.output_padding, d, dims, 0), x->shape());
    else
      set_windows(a, size, o, x->shape());
    size = transposes ? a.in : a.windows;
  }
  const auto& [h, w, groups] = windows;
  const auto size = [&](const WindowAxis& a) { return transposes ? a.windows : a.in; };
  const Tensor images = reshape(x, {first == 2 ? x->shape()[0] : 1, channels, size(h), size(w)});
  const Tensor matrix = reshape(weight, {filters[0], filters[1], h.size, w.size});
  return reshape((transposes ? transposed : convolved)(op, images, matrix, bias, windows), result);
}

Windows windows_of(const Dims& size, const ConvOptions& o, const Shape& image) {
  Windows windows{axis_of(size, o, 0, 2), axis_of(size, o, 1, 2)};
  set_windows(windows.h, image[image.dim() - 2], o, image);
  set_windows(windows.w, image[image.dim() - 1], o, image);
  return windows;
}

Tensor folded(const Operand& x, const Windows& windows);

// y = the windows of x.   dx = fold(g), and the reverse
Tensor unfolded(const Operand& x, const Windows& windows) {
  return record("unfold", kernel::unfold(x, windows),
                {{x, "g folded", [windows](const Tensor& g) { return folded(g, windows); }}});
}

Tensor folded(const Operand& x, const Windows& windows) {
  return record("fold", kernel::fold(x, windows),
                {{x, "g unfolded", [windows](const Tensor& g) { return unfolded(g, windows); }}});
}

}  // namespace

Padding::Padding(const char* name) : Dims(0), same(std::string_view(name) == "same") {
  check(same || std::string_view(name) == "valid", "padding is \"", name,
        "\"; it must be \"same\", \"valid\" or numbers");
}

Tensor conv1d(Operand x, Operand weight, Operand bias, const ConvOptions& options) {
  return convolution("conv1d", x, weight, bias, options, 1, false);
}
Tensor conv2d(Operand x, Operand weight, Operand bias, const ConvOptions& options) {
  return convolution("conv2d", x, weight, bias, options, 2, false);
}
Tensor conv_transpose1d(Operand x, Operand weight, Operand bias, const ConvOptions& options) {
  return convolution("conv_transpose1d", x, weight, bias, options, 1, true);
}
Tensor conv_transpose2d(Operand x, Operand weight, Operand bias, const ConvOptions& options) {
  return convolution("conv_transpose2d", x, weight, bias, options, 2, true);
}

Tensor unfold(Operand x, const Dims& kernel_size, const ConvOptions& options) {
  const OpScope scope("unfold", x.line());
  check_floating(x);
  check(x->dim() == 3 || x->dim() == 4, "x is ", x->shape(), "; it must be [N, C, H, W] or [C, H, W]");
  if (x->dim() == 3) return squeeze(unfold(unsqueeze(x, 0), kernel_size, options), 0);
  return unfolded(x, windows_of(kernel_size, options, x->shape()));
}

Tensor fold(Operand x, const Dims& output_size, const Dims& kernel_size, const ConvOptions& options) {
  const OpScope scope("fold", x.line());
  check_floating(x);
  check(x->dim() == 2 || x->dim() == 3, "x is ", x->shape(),
        "; it must be [N, C k, windows] or [C k, windows]");
  if (x->dim() == 2) return squeeze(fold(unsqueeze(x, 0), output_size, kernel_size, options), 0);
  const auto size = [&](int64_t d) { return number_of("output_size", output_size, d, 2, 1); };
  const Windows windows = windows_of(kernel_size, options, {size(0), size(1)});
  check(x->size(1) % windows.size() == 0 && x->size(2) == windows.count(), "x is ", x->shape(),
        ", and an image of ", output_size, " has ", windows.count(), " windows of ", windows.size(),
        " elements; x must be [N, C ", windows.size(), ", ", windows.count(), "]");
  return folded(x, windows);
}

}  // namespace heed
