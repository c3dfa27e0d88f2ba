#include "autograd/ops/pool.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/conv.h"
#include "autograd/ops/index.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/sort.h"
#include "tensor/create.h"
#include "tensor/kernels/conv.h"

namespace heed {
namespace {

using kernel::WindowAxis;
using PoolAxes = std::array<WindowAxis, 2>;  // height, width

WindowAxis pool_axis(const Tensor& x, int64_t d, int64_t dims, const Dims& size, const MaxPoolOptions& o) {
  using detail::number_of;
  WindowAxis a{.in = x.size(x.dim() - dims + d), .size = number_of("the kernel size", size, d, dims, 1)};
  a.stride = o.stride.empty() ? a.size : number_of("stride", o.stride, d, dims, 1);
  a.padding = number_of("padding", o.padding, d, dims, 0);
  a.dilation = number_of("dilation", o.dilation, d, dims, 1);
  const int64_t covered = (a.size - 1) * a.dilation + 1, rest = a.in + 2 * a.padding - covered;
  check(2 * a.padding <= covered, "padding is ", o.padding, " and the window covers ", covered,
        " positions; at most half of them may be padding");
  check(rest >= 0, "the window covers ", covered, " positions, and x is ", x.shape(), " with ", a.padding,
        " more on each side; the window must not be larger");
  a.windows = rest / a.stride + 1;
  if (o.ceil_mode && rest % a.stride != 0 && a.windows * a.stride < a.in + a.padding) ++a.windows;
  return a;
}

// The number of positions after the image that windows reach.
int64_t beyond(const WindowAxis& a) { return std::max<int64_t>(0, a.span() - a.padding - a.in); }

// y = reduce(windows [N, C, k, L], axes), [N, C, L]; enlarge(images, axes) adds what windows reach outside.
template <class Enlarge, class Reduce>
Tensor pool(const char* op, const Operand& x, int64_t dims, const Dims& size, const MaxPoolOptions& o,
            const Enlarge& enlarge, const Reduce& reduce) {
  const OpScope scope(op, x.line());
  check_floating(x);
  check(x->dim() == dims + 1 || x->dim() == dims + 2, "x is ", x->shape(), "; it must be ",
        dims == 1 ? "[N, C, T] or [C, T]" : "[N, C, H, W] or [C, H, W]");
  PoolAxes axes;
  for (int64_t d = 0; d < dims; ++d) axes[static_cast<size_t>(2 - dims + d)] = pool_axis(x, d, dims, size, o);
  const auto& [h, w] = axes;

  Shape shape = x->shape();
  const int64_t n = x->dim() == dims + 2 ? shape[0] : 1, channels = shape[x->dim() - dims - 1];
  const Tensor columns = unfold(enlarge(reshape(x, {n, channels, h.in, w.in}), axes), {h.size, w.size},
                                {.stride = {h.stride, w.stride}, .dilation = {h.dilation, w.dilation}});
  const Tensor y = reduce(reshape(columns, {n, channels, h.size * w.size, h.windows * w.windows}), axes);
  if (dims == 2) shape[x->dim() - 2] = h.windows;
  shape[x->dim() - 1] = w.windows;
  return reshape(y, shape);
}

// Positions outside of the image have the value of the nearest element of their window. It is in the maximum
// anyway, and no -inf appears.
Tensor repeat_edges(const Tensor& images, const PoolAxes& axes) {
  Tensor y = images;
  for (int64_t d = 0; d < 2; ++d) {
    const WindowAxis& a = axes[static_cast<size_t>(d)];
    std::vector<int64_t> from;
    for (int64_t i = -a.padding; i < a.in + beyond(a); ++i) {
      const int64_t first = (i + a.padding * a.dilation) % a.dilation;  // elements are `dilation` apart
      check(first < a.in, "the dilation ", a.dilation, " exceeds the size ", a.in,
            " of x, so that a window has no element");
      from.push_back(std::clamp(i, first, first + (a.in - 1 - first) / a.dilation * a.dilation));
    }
    if (std::ssize(from) > a.in) y = index_select(y, 2 + d, from_vector(from, {std::ssize(from)}));
  }
  return y;
}

Tensor max_pool(const char* op, const Operand& x, int64_t dims, const Dims& size, const MaxPoolOptions& o) {
  return pool(op, x, dims, size, o, repeat_edges,
              [](const Tensor& windows, const PoolAxes&) { return max(windows, 2).values; });
}

// The number of elements of each window, without what is neither in the image nor, if it counts, padding.
Tensor pool_divisors(const PoolAxes& axes, bool count_padding, DType dtype) {
  const auto count = [&](const WindowAxis& a, int64_t j) {
    const int64_t begin = j * a.stride - a.padding, margin = count_padding ? a.padding : 0;
    return std::min(begin + a.size, a.in + margin) - std::max(begin, -margin);
  };
  std::vector<double> counts;
  for (int64_t i = 0; i < axes[0].windows; ++i)
    for (int64_t j = 0; j < axes[1].windows; ++j)
      counts.push_back(static_cast<double>(count(axes[0], i) * count(axes[1], j)));
  return from_vector(counts, {std::ssize(counts)}, dtype);
}

Tensor avg_pool(const char* op, const Operand& x, int64_t dims, const Dims& size, const AvgPoolOptions& o) {
  check_in(op, o.divisor_override.value_or(1) != 0, "divisor_override is 0; it must not be");
  const auto pad_zeros = [](const Tensor& images, const PoolAxes& axes) {
    const auto& [h, w] = axes;
    const IntList pads{w.padding, beyond(w), h.padding, beyond(h)};
    return pads == IntList(4, 0) ? images : pad(images, pads);
  };
  return pool(op, x, dims, size, {o.stride, o.padding, 1, o.ceil_mode}, pad_zeros,
              [&](const Tensor& windows, const PoolAxes& axes) {
                const Tensor sums = sum(windows, 2);
                if (o.divisor_override) return sums / *o.divisor_override;
                return sums / pool_divisors(axes, o.count_include_pad, windows.dtype());
              });
}

}  // namespace

Tensor max_pool1d(Operand x, const Dims& kernel_size, const MaxPoolOptions& options) {
  return max_pool("max_pool1d", x, 1, kernel_size, options);
}
Tensor max_pool2d(Operand x, const Dims& kernel_size, const MaxPoolOptions& options) {
  return max_pool("max_pool2d", x, 2, kernel_size, options);
}
Tensor avg_pool1d(Operand x, const Dims& kernel_size, const AvgPoolOptions& options) {
  return avg_pool("avg_pool1d", x, 1, kernel_size, options);
}
Tensor avg_pool2d(Operand x, const Dims& kernel_size, const AvgPoolOptions& options) {
  return avg_pool("avg_pool2d", x, 2, kernel_size, options);
}

}  // namespace heed
