#include "autograd/ops/pool.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/conv.h"
#include "autograd/ops/index.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/sort.h"
#include "tensor/create.h"
#include "tensor/kernels/conv.h"

namespace heed {
namespace {

using kernel::WindowAxis;
using kernel::Windows;

// y = reduce(columns [N, C, k, L], windows), [N, C, L], with zeros where a window reaches outside.
template <class Reduce>
Tensor pool(const Operand& x, const Dims& size, const MaxPoolOptions& o, int64_t dims, const Reduce& reduce) {
  const Tensor images = detail::as_images(x, dims);
  const Dims& stride = o.stride.empty() ? size : o.stride;
  const ConvOptions options{.stride = stride, .padding = o.padding, .dilation = o.dilation};
  const auto of = o.ceil_mode ? detail::WindowsOf::ceil_mode : detail::WindowsOf::image;
  const Windows windows = detail::windows_of(x->shape(), size, dims, options, of);
  for (const WindowAxis& a : {windows.h, windows.w}) {
    const int64_t covered = (a.size - 1) * a.dilation + 1;
    check(2 * a.padding <= covered, "padding is ", o.padding, " and the window covers ", covered,
          " positions; at most half of them may be padding");
  }
  const int64_t n = images.size(0), channels = images.size(1);
  const Tensor columns = detail::unfolded(images, windows);
  const Tensor y = reduce(reshape(columns, {n, channels, windows.size(), windows.count()}), windows);
  return detail::from_images(reshape(y, {n, channels, windows.h.windows, windows.w.windows}), x, dims);
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
    const Tensor first = argmax(to(valid, int64), 0, true);
    const Shape shape{columns.size(0), columns.size(1), 1, columns.size(3)};
    return max(where(valid, columns, gather(columns, 2, expand(first, shape))), 2).values;
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

Tensor max_pool1d(Operand x, const Dims& size, const MaxPoolOptions& o) { return max_pool(x, size, o, 1); }
Tensor max_pool2d(Operand x, const Dims& size, const MaxPoolOptions& o) { return max_pool(x, size, o, 2); }
Tensor avg_pool1d(Operand x, const Dims& size, const AvgPoolOptions& o) { return avg_pool(x, size, o, 1); }
Tensor avg_pool2d(Operand x, const Dims& size, const AvgPoolOptions& o) { return avg_pool(x, size, o, 2); }

}  // namespace heed
