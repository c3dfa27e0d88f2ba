#include "autograd/ops/conv.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "autograd/ops/sort.h"
#include "tensor/kernels/conv.h"

namespace heed {

using detail::number_of, kernel::WindowAxis, kernel::Windows;

int64_t detail::number_of(const char* name, const Dims& list, int64_t axis, int64_t dims, int64_t least) {
  check(list.dim() == 1 || list.dim() == dims, name, " is ", list, "; give one number, or one for each of ",
        dims, dims == 1 ? " dimension" : " dimensions");
  const int64_t number = list[list.dim() == 1 ? 0 : axis];
  check(number >= least && number < int64_t{1} << 31, name, " is ", list, "; it must be at least ", least);
  return number;
}

namespace {

// x [N, C, T] or [C, T], or with two dims [N, C, H, W] or [C, H, W], as [N, C, H, W].
Tensor as_images(const Operand& x, int64_t dims) {
  check_floating(x);
  check(x->dim() == dims + 1 || x->dim() == dims + 2, "x is ", x->shape(), "; it must be ",
        dims == 1 ? "[N, C, T] or [C, T]" : "[N, C, H, W] or [C, H, W]");
  Shape shape = x->shape();
  if (dims == 1) shape.insert(shape.dim() - 1, 1);
  if (shape.dim() == 3) shape.insert(0, 1);
  return reshape(x, shape);
}

// y [N, C, H, W] in the form that x had before as_images().
Tensor from_images(const Tensor& y, const Operand& x, int64_t dims) {
  Shape shape = y.shape();
  if (dims == 1) shape.erase(2);
  if (x->dim() == dims + 1) shape.erase(0);
  return reshape(y, shape);
}

// The windows of this size along the last `dims` dimensions of the shape x; if transposed, of the images that
// have one window for each element of x.
Windows windows_of(const Shape& x, const Dims& size, int64_t dims, const ConvOptions& o,
                   bool transposed = false) {
  Windows windows{.h = {}, .w = {}, .groups = o.groups};
  for (int64_t d = 0; d < dims; ++d) {
    WindowAxis& a = d == dims - 1 ? windows.w : windows.h;
    const int64_t n = x[x.dim() - dims + d];
    a = {.in = n,
         .size = number_of("the kernel size", size, d, dims, 1),
         .stride = number_of("stride", o.stride, d, dims, 1),
         .padding = number_of("padding", o.padding, d, dims, 0),
         .dilation = number_of("dilation", o.dilation, d, dims, 1)};
    const int64_t covered = a.span(), rest = n + 2 * a.padding - covered;
    check(!o.padding.same || (a.stride == 1 && !transposed), "stride is ", o.stride,
          " and padding \"same\"; give the padding as numbers");
    if (transposed) {
      const int64_t more = number_of("output_padding", o.output_padding, d, dims, 0);
      check(more < std::max(a.stride, a.dilation), "output_padding is ", o.output_padding,
            "; it must be less than the stride ", o.stride, " or the dilation ", o.dilation);
      a.windows = n;
      a.in = a.span() - 2 * a.padding + more;
      check(n > 0 && a.in > 0, "x is ", x, " and padding ", o.padding, ", which makes a size of ", a.in,
            "; it must be positive");
    } else if (o.padding.same) {
      a.windows = n;
      a.padding = (covered - 1) / 2;
    } else {
      check(rest >= 0, "the window covers ", covered, " positions, and x is ", x, " with ", a.padding,
            " more on each side; enlarge the padding, or shrink the kernel or the dilation");
      a.windows = rest / a.stride + 1;
    }
  }
  return windows;
}

// A number of each dimension, as an attribute of operations.
std::vector<int64_t> height_width(const Windows& windows, const auto& number) {
  return {std::invoke(number, windows.h), std::invoke(number, windows.w)};
}

// The pads at the top and left, then those at the bottom and right; windows may leave up to stride - 1 of the
// latter uncovered.
std::vector<int64_t> pads(const Windows& windows) {
  const auto after = [](const WindowAxis& a) { return std::max(a.padding, a.span() - a.in - a.padding); };
  return {windows.h.padding, windows.w.padding, after(windows.h), after(windows.w)};
}

// x, weight and y of a convolution, parts 0 to 2, are linear in each other: see kernel::ConvParts. The
// gradient of a part of which p was computed is therefore the same part, computed with g in the place of p.
Tensor missing_part(const char* op, size_t p, const kernel::ConvParts& parts, const Operand& bias,
                    const Windows& windows) {
  static constexpr const char* kNames[] = {"conv_transpose2d", "conv2d_weight", "conv2d"};
  static constexpr const char* kTexts[][2] = {
      {"g, convolved with $2", "Σ of g times $1 over all windows"},
      {"$2, transposed convolution with g", "$1, convolved with g"},
      {"g, transposed convolution with $2", "Σ of $1 times g over all windows"}};
  const size_t a = p == 0 ? 2 : 0, b = p == 1 ? 2 : 1;
  const auto gradient = [=](size_t of, const Tensor& g, const Tensor& other) {
    kernel::ConvParts with_g;
    with_g[p] = g;
    with_g[3 - p - of] = other;
    return missing_part(kNames[of], of, with_g, {}, windows);
  };
  const auto output_padding = [](const WindowAxis& d) { return d.in - d.span() + 2 * d.padding; };
  return record(op, kernel::convolution(parts, bias, windows),
                {{parts[a], kTexts[p][0],
                  [=, other = save(parts[b])](const Tensor& g) { return gradient(a, g, other()); }},
                 {parts[b], kTexts[p][1],
                  [=, other = save(parts[a])](const Tensor& g) { return gradient(b, g, other()); }},
                 {bias, "Σ of g over images and positions",
                  [](const Tensor& g) {
                    return sum(g, {0, 2, 3});
                  }}},
                {{"kernel_shape", height_width(windows, &WindowAxis::size)},
                 {"strides", height_width(windows, &WindowAxis::stride)},
                 {"pads", pads(windows)},
                 {"dilations", height_width(windows, &WindowAxis::dilation)},
                 {"group", windows.groups},
                 {"output_padding", height_width(windows, output_padding)}});
}

// All four. A signal is an image of one row, and a missing batch a batch of one.
Tensor convolution(const char* op, const Operand& x, const Operand& weight, const Operand& bias,
                   const ConvOptions& o, int64_t dims, bool transposes) {
  const OpScope scope(op, x.line());
  check(x->dtype() == weight->dtype(), "x is ", x->dtype(), " ", x->shape(), ", the weight ", weight->dtype(),
        " ", weight->shape(), "; convert x with to(x, ", weight->dtype(), ")");
  const Tensor images = as_images(x, dims);
  const Shape& filters = weight->shape();
  check(filters.dim() == dims + 2, "the weight is ", filters, "; it must have ", dims + 2, " dimensions");
  check(o.groups > 0 && filters[0] % o.groups == 0, "groups is ", o.groups, ", the weight ", filters,
        "; the number of groups must be positive and divide its first size");
  const int64_t wide = filters[1] * o.groups, in = transposes ? filters[0] : wide;
  check(images.size(1) == in, "x is ", x->shape(), " with ", images.size(1), " channels, the weight ",
        filters, " is for ", in, " in ", o.groups, o.groups == 1 ? " group" : " groups");
  check_parameter("bias", bias, {transposes ? wide : filters[0]}, x);
  const Shape size(filters.data() + 2, dims);
  const Windows windows = windows_of(x->shape(), size, dims, o, transposes);
  const Tensor matrix = reshape(weight, {filters[0], filters[1], windows.h.size, windows.w.size});
  const Tensor y = transposes ? missing_part(op, 0, {Tensor(), matrix, images}, bias, windows)
                              : missing_part(op, 2, {images, matrix, Tensor()}, bias, windows);
  return from_images(y, x, dims);
}

// y = the windows of x [N, C, H, W] as columns, or with `folds` the reverse; each is the gradient of the
// other.
Tensor unfolded(const Operand& x, const Windows& windows, bool folds = false) {
  return record(
      folds ? "fold" : "unfold", folds ? kernel::fold(x, windows) : kernel::unfold(x, windows),
      {{x, folds ? "g unfolded" : "g folded", [=](const Tensor& g) { return unfolded(g, windows, !folds); }}},
      {{"kernel_shape", height_width(windows, &WindowAxis::size)},
       {"strides", height_width(windows, &WindowAxis::stride)},
       {"pads", pads(windows)},
       {"dilations", height_width(windows, &WindowAxis::dilation)},
       {"image_shape", height_width(windows, &WindowAxis::in)}});
}

// y = reduce(columns [N, C, k, L], windows), [N, C, L], with zeros where a window reaches outside.
Tensor pool(const Operand& x, const Dims& size, const MaxPoolOptions& o, int64_t dims, const auto& reduce) {
  const Tensor images = as_images(x, dims);
  const Dims& stride = o.stride.empty() ? size : o.stride;
  const ConvOptions options{.stride = stride, .padding = o.padding, .dilation = o.dilation};
  Windows windows = windows_of(x->shape(), size, dims, options);
  for (WindowAxis* a : {&windows.h, &windows.w}) {
    const int64_t covered = (a->size - 1) * a->dilation + 1;
    check(2 * a->padding <= covered, "padding is ", o.padding, " and the window covers ", covered,
          " positions; at most half of them may be padding");
    const bool uncovered = a->span() < a->in + 2 * a->padding;
    const bool begins_inside = a->windows * a->stride < a->in + a->padding;
    if (o.ceil_mode && uncovered && begins_inside) ++a->windows;
  }
  const int64_t n = images.size(0), channels = images.size(1);
  const Tensor columns = unfolded(images, windows);
  const Tensor y = reduce(reshape(columns, {n, channels, windows.size(), windows.count()}), windows);
  return from_images(reshape(y, {n, channels, windows.h.windows, windows.w.windows}), x, dims);
}

// 1 for each element of each window that lies in the image, else 0: [k, L].
Tensor inside(const Windows& windows, DType dtype) {
  const Tensor image = ones({1, 1, windows.h.in, windows.w.in}, dtype);
  return reshape(kernel::unfold(image, windows), {windows.size(), windows.count()});
}

// Elements outside of the image become the first one inside of their window. It is in the maximum anyway, and
// no -inf appears.
Tensor max_pool(const Operand& x, const Dims& size, const MaxPoolOptions& o, int64_t dims) {
  const OpScope scope(dims == 1 ? "max_pool1d" : "max_pool2d", x.line());
  return pool(x, size, o, dims, [&](const Tensor& columns, const Windows& windows) {
    for (const auto& a : {windows.h, windows.w})
      check((a.padding == 0 && !o.ceil_mode) || a.dilation <= a.in, "the dilation ", a.dilation,
            " exceeds the size ", a.in, " of x, so that a window has no element");
    const Tensor valid = inside(windows, columns.dtype()) == 1;
    if (all(valid).item<bool>()) return max(columns, 2).values;
    const Tensor first = expand(argmax(to(valid, int64), 0, true), {columns.size(0), columns.size(1), 1, -1});
    return max(where(valid, columns, gather(columns, 2, first)), 2).values;
  });
}

// The divisor is the number of elements that lie in the image, or, if it counts, in its padding.
Tensor avg_pool(const Operand& x, const Dims& size, const AvgPoolOptions& o, int64_t dims) {
  const OpScope scope(dims == 1 ? "avg_pool1d" : "avg_pool2d", x.line());
  check(o.divisor_override.value_or(1) != 0, "divisor_override is 0; it must not be");
  const MaxPoolOptions same{o.stride, o.padding, 1, o.ceil_mode};
  return pool(x, size, same, dims, [&](const Tensor& columns, Windows windows) {
    const Tensor sums = sum(columns, 2);
    if (o.divisor_override) return sums / *o.divisor_override;
    for (WindowAxis* a : {&windows.h, &windows.w})
      if (o.count_include_pad) a->in += 2 * std::exchange(a->padding, 0);
    return sums / sum(inside(windows, columns.dtype()), 0);
  });
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
  const Tensor images = as_images(x, 2);
  const Tensor y = unfolded(images, windows_of(x->shape(), kernel_size, 2, options));
  return x->dim() == 3 ? squeeze(y, 0) : y;
}

Tensor fold(Operand x, const Dims& output_size, const Dims& kernel_size, const ConvOptions& options) {
  const OpScope scope("fold", x.line());
  check_floating(x);
  check(x->dim() == 2 || x->dim() == 3, "x is ", x->shape(),
        "; it must be [N, C k, windows] or [C k, windows]");
  if (x->dim() == 2) return squeeze(fold(unsqueeze(x, 0), output_size, kernel_size, options), 0);
  const auto size = [&](int64_t d) { return number_of("output_size", output_size, d, 2, 1); };
  const Windows windows = windows_of({size(0), size(1)}, kernel_size, 2, options);
  check(x->size(1) % windows.size() == 0 && x->size(2) == windows.count(), "x is ", x->shape(),
        ", and an image of ", output_size, " has ", windows.count(), " windows of ", windows.size(),
        " elements; x must be [N, C ", windows.size(), ", ", windows.count(), "]");
  return unfolded(x, windows, true);
}

Tensor max_pool1d(Operand x, const Dims& size, const MaxPoolOptions& o) { return max_pool(x, size, o, 1); }
Tensor max_pool2d(Operand x, const Dims& size, const MaxPoolOptions& o) { return max_pool(x, size, o, 2); }
Tensor avg_pool1d(Operand x, const Dims& size, const AvgPoolOptions& o) { return avg_pool(x, size, o, 1); }
Tensor avg_pool2d(Operand x, const Dims& size, const AvgPoolOptions& o) { return avg_pool(x, size, o, 2); }

}  // namespace heed
