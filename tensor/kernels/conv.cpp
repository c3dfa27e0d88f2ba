#include "tensor/kernels/conv.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"

namespace heed::kernel {
namespace {

// Note [Convolution as a product]
//
// Images are copied with the zeros around them, and sorted by the positions of rows and columns modulo the
// stride: [N, C, stride, stride, rows, columns]. Windows that are adjacent in the image are then adjacent in
// memory, and become columns row by row: X [C K, L] for the K elements of the L windows of an image. For each
// group of channels, with the weight W [O, C K] and the results Y [O, L] of an image:
//
//   y         Y = W X
//   x         X = W^T Y, whose columns are added up in the image
//   weight    W^T = sum_n X Y^T
struct SortedLayout {
  explicit SortedLayout(const Windows& windows) : h(windows.h), w(windows.w) {}

  const WindowAxis &h, &w;
  const int64_t rows = ceil_div(std::max(h.span(), h.in + h.padding), h.stride);
  const int64_t columns = ceil_div(std::max(w.span(), w.in + w.padding), w.stride);
  // Whether the windows of an image are the image.
  const bool is_image =
      h.size * w.size * h.stride * w.stride == 1 && rows == h.windows && columns == w.windows;

  Tensor zeros(int64_t n, int64_t channels, DType dtype) const {
    return kernel::full({n, channels, h.stride, w.stride, rows, columns}, 0, dtype);
  }
  // Calls f(image, sorted) with the parts of images x and of sorted ones that are the same elements.
  void each_part(const Tensor& x, const Tensor& sorted, const auto& f) const {
    const Strides &from = x.strides(), &to = sorted.strides();
    for (int64_t i = 0; i < h.stride; ++i)
      for (int64_t j = 0; j < w.stride; ++j) {
        const int64_t top = ceil_div(std::max<int64_t>(h.padding - i, 0), h.stride);
        const int64_t left = ceil_div(std::max<int64_t>(w.padding - j, 0), w.stride);
        const int64_t y = top * h.stride + i - h.padding, z = left * w.stride + j - w.padding;
        if (y >= h.in || z >= w.in) continue;
        const Shape shape{x.size(0), x.size(1), ceil_div(h.in - y, h.stride), ceil_div(w.in - z, w.stride)};
        f(TensorImpl::view(x, shape, {from[0], from[1], from[2] * h.stride, from[3] * w.stride},
                           y * from[2] + z * from[3]),
          TensorImpl::view(sorted, shape, {to[0], to[1], to[4], to[5]},
                           i * to[2] + j * to[3] + top * to[4] + left));
      }
  }
  Tensor sorted(const Tensor& x) const {
    if (h.stride * w.stride == 1 && x.size(2) == rows && x.size(3) == columns) return contiguous(x);
    Tensor y = zeros(x.size(0), x.size(1), x.dtype());
    each_part(x, y, [](const Tensor& image, const Tensor& part) { copy_into(part, image); });
    return y;
  }
  Tensor unsorted(const Tensor& sorted) const {
    Tensor x = Tensor::empty({sorted.size(0), sorted.size(1), h.in, w.in}, sorted.dtype());
    each_part(x, sorted, [](const Tensor& image, const Tensor& part) { copy_into(image, part); });
    return x;
  }
  // The offset of element = i w.size + j of the first window in the sorted channels of an image.
  int64_t offset(int64_t element) const {
    const int64_t row = element / w.size * h.dilation, column = element % w.size * w.dilation;
    const int64_t part = row % h.stride * w.stride + column % w.stride;
    return (part * rows + row / h.stride) * columns + column / w.stride;
  }
  // Calls f(column, elements) for each element of the windows, with views [N, C, h.windows, w.windows] of
  // all columns and of sorted images.
  void each_element(const Tensor& all, const Tensor& sorted, const auto& f) const {
    const int64_t size = h.size * w.size, count = h.windows * w.windows;
    const Shape shape{sorted.size(0), sorted.size(1), h.windows, w.windows};
    const Strides& s = sorted.strides();
    for (int64_t e = 0; e < size; ++e)
      f(TensorImpl::view(all, shape, {all.size(1) * count, size * count, w.windows, 1}, e * count),
        TensorImpl::view(sorted, shape, {s[0], s[1], columns, 1}, offset(e)));
  }
};

// The windows of some rows of an image, as many as stay in the cache as columns.
struct Band {
  const SortedLayout& layout;
  int64_t image, first, rows;

  // X [C K, L] of all groups; unset unless the image itself is it.
  Tensor columns(const Tensor& sorted) const {
    const int64_t n = rows * layout.w.windows, k = sorted.size(1) * layout.h.size * layout.w.size;
    if (!layout.is_image) return Tensor::empty({k, n}, sorted.dtype());
    return TensorImpl::view(sorted, {k, n}, {layout.h.windows * layout.w.windows, 1},
                            image * sorted.strides()[0] + first * layout.w.windows);
  }
  // Calls f(n, x, column) for each row of windows: their elements in the image, and in its columns.
  template <class T>
  void each_line(const Tensor& sorted, const Tensor& columns, const auto& f) const {
    if (layout.is_image) return;
    const int64_t elements = layout.h.size * layout.w.size, n = layout.w.windows;
    T* column = detail::first_of<T>(columns);
    for (int64_t row = 0; row < columns.size(0); ++row) {
      T* x = detail::first_of<T>(sorted) + image * sorted.strides()[0] +
             row / elements * sorted.strides()[1] + layout.offset(row % elements) + first * layout.columns;
      for (int64_t i = 0; i < rows; ++i, x += layout.columns, column += n) f(n, x, column);
    }
  }
};

}  // namespace

Tensor convolution(const ConvParts& given, const Tensor& bias, const Windows& windows) {
  if (reference_mode()) return plain::convolution(given, bias, windows);
  const Tensor &x = given[0], &weight = given[1], &y = given[2];
  const std::array<int64_t, 3> sizes = conv_sizes(given, windows);
  const int64_t n = sizes[0], o = sizes[1], c = sizes[2];  // names that OpenMP can capture
  const SortedLayout layout(windows);
  const int64_t groups = windows.groups, k = c * windows.size(), l = windows.count();
  const DType dtype = (x.defined() ? x : y).dtype();
  const Tensor all_x = x.defined() ? layout.sorted(x) : layout.zeros(n, groups * c, dtype),
               w = contiguous(weight);
  const Shape y_shape{n, groups * o, windows.h.windows, windows.w.windows};
  const Tensor all_y = y.defined() ? contiguous(y) : Tensor::empty(y_shape, dtype);
  Tensor sum = kernel::full({weight.defined() ? 0 : groups, k, o}, 0, dtype);
  const int64_t rows = std::clamp<int64_t>((1 << 18) / std::max<int64_t>(1, groups * k * windows.w.windows),
                                           1, windows.h.windows);
  visit_floating(dtype, [&]<class T>(Type<T>) {
    const auto each_band = [&](int64_t image, const auto& f) {
      for (int64_t first = 0; first < windows.h.windows; first += rows) {
        const Band band{layout, image, first, std::min(rows, windows.h.windows - first)};
        const Tensor columns = band.columns(all_x);
        if (x.defined())
          band.each_line<T>(all_x, columns,
                            [](int64_t count, T* from, T* to) { std::copy_n(from, count, to); });
        f(columns, first * windows.w.windows, columns.size(1), columns.strides()[0]);
        if (x.defined()) continue;
        band.each_line<T>(all_x, columns, [](int64_t count, T* to, const T* from) {
          HEED_VECTORIZE
          for (int64_t i = 0; i < count; ++i) to[i] += from[i];
        });
      }
    };
    if (!weight.defined()) {  // products in the order of the images, each by all threads
      for (int64_t image = 0; image < n; ++image)
        each_band(image, [&](const Tensor& columns, int64_t first, int64_t count, int64_t step) {
          sum = matmul(
              TensorImpl::view(columns, {groups, k, count}, {k * step, step, 1}),
              TensorImpl::view(all_y, {groups, count, o}, {o * l, 1, l}, image * groups * o * l + first),
              sum);
        });
      return;
    }
    product_flops() += 2 * y_shape[0] * groups * o * k * l;
    each_row(n, groups * o * k * l / 32, [&](int64_t image) {
      each_band(image, [&](const Tensor& columns, int64_t first, int64_t count, int64_t step) {
        for (int64_t g = 0; g < groups; ++g) {
          const Matrix<T> w_g{detail::first_of<T>(w) + g * o * k, k, 1};
          const Matrix<T> x_g{detail::first_of<T>(columns) + g * k * step, step, 1};
          const Matrix<T> y_g{detail::first_of<T>(all_y) + (image * groups + g) * o * l + first, l, 1};
          if (x.defined()) gemm<T>(o, count, k, 1, w_g, x_g, {}, y_g);
          if (y.defined()) gemm<T>(k, count, o, 1, w_g.transposed(), y_g, {}, x_g);
        }
      });
    });
  });
  if (!weight.defined())
    return TensorImpl::view(contiguous(last_swapped_with(sum, 1)),
                            {groups * o, c, windows.h.size, windows.w.size});
  const Tensor result = x.defined() ? all_y : layout.unsorted(all_x);
  return bias.defined() ? add(result, TensorImpl::view(contiguous(bias), {bias.numel(), 1, 1})) : result;
}

Tensor unfold(const Tensor& x, const Windows& windows) {
  const SortedLayout layout(windows);
  Tensor y = Tensor::empty({x.size(0), x.size(1) * windows.size(), windows.count()}, x.dtype());
  layout.each_element(y, layout.sorted(x), copy_into);
  return y;
}

Tensor fold(const Tensor& columns, const Windows& windows) {
  const SortedLayout layout(windows);
  const Tensor x = layout.zeros(columns.size(0), columns.size(1) / windows.size(), columns.dtype());
  layout.each_element(contiguous(columns), x, [](const auto& column, const auto& e) { add_into(e, column); });
  return layout.unsorted(x);
}

}  // namespace heed::kernel
