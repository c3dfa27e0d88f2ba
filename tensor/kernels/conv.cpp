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
// memory, and become columns line by line: X [C K, L] for the K elements of the L windows of an image. For
// each group of channels, with the weight W [O, C K] and the results Y [O, L] of an image:
//
//   y         Y = W X
//   x         X = W^T Y, whose columns are added up in the image
//   weight    W^T = sum_n X Y^T

// to[i] = f(to[i], from[i]). Lines are short: the last vector overlaps the one before it, so that no rest is
// left, and is computed before that one is stored.
template <int64_t bytes = kVectorBytes, class T>
void update_line(int64_t n, T* to, const T* from, const auto& f) {
  using S = Simd<T, bytes>;
  const auto at = [&](int64_t i) { return f(S::load(to + i), S::load(from + i)); };
  if (n >= S::size) {
    const auto last = at(n - S::size);
    for (int64_t i = 0; i + S::size < n; i += S::size) S::store(to + i, at(i));
    S::store(to + n - S::size, last);
  } else if constexpr (bytes > 16) {
    update_line<bytes / 2>(n, to, from, f);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = f(to[i], from[i]);
  }
}
template <class T>
void copy_line(int64_t n, T* to, int64_t to_step, const T* from, int64_t from_step) {
  if (to_step == 1 && from_step == 1)
    update_line(n, to, from, [](const auto&, const auto& x) { return x; });
  else
    for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
}

struct SortedLayout {
  const WindowAxis &h, &w;
  const int64_t rows = ceil_div(std::max(h.span(), h.in + h.padding), h.stride);
  const int64_t columns = ceil_div(std::max(w.span(), w.in + w.padding), w.stride);
  // Whether a sorted image is the image itself, and whether it is also X.
  const bool is_same = h.stride * w.stride == 1 && rows == h.in && columns == w.in;
  const bool is_columns = is_same && h.size * w.size == 1 && rows == h.windows && columns == w.windows;

  Tensor zeros(int64_t n, int64_t channels, DType dtype) const {
    return kernel::full({n, channels, h.stride, w.stride, rows, columns}, 0, dtype);
  }
  // The offset of row i and column j of a channel, counted from the first zeros around it.
  int64_t offset(int64_t i, int64_t j) const {
    const int64_t part = i % h.stride * w.stride + j % w.stride;
    return (part * rows + i / h.stride) * columns + j / w.stride;
  }
  // Copies images x to sorted ones, or back: lines x[0], x[w.stride], ..., which are adjacent when sorted.
  template <bool sorts>
  void copy(const Tensor& x, const Tensor& sorted) const {
    visit_floating(x.dtype(), [&]<class T>(Type<T>) {
      each_row(x.size(0) * x.size(1), h.in * w.in, [&](int64_t image) {
        T* const first = detail::first_of<T>(sorted) + image * sorted.strides()[1];
        for (int64_t i = 0; i < h.in; ++i)
          for (int64_t j = 0; j < std::min(w.stride, w.in); ++j) {
            T* const of_x = detail::first_of<T>(x) + (image * h.in + i) * w.in + j;
            T* const line = first + offset(i + h.padding, j + w.padding);
            const int64_t n = ceil_div(w.in - j, w.stride);
            sorts ? copy_line(n, line, 1, of_x, w.stride) : copy_line(n, of_x, w.stride, line, 1);
          }
      });
    });
  }
  Tensor sorted(const Tensor& images) const {
    Tensor x = contiguous(images);
    if (is_same) return x;
    Tensor y = zeros(x.size(0), x.size(1), x.dtype());
    copy<true>(x, y);
    return y;
  }
  Tensor unsorted(const Tensor& sorted) const {
    const Shape shape{sorted.size(0), sorted.size(1), h.in, w.in};
    if (is_same) return TensorImpl::view(sorted, shape);
    Tensor x = Tensor::empty(shape, sorted.dtype());
    copy<false>(x, sorted);
    return x;
  }
};

// Some rows of windows of an image.
struct Band {
  const SortedLayout& layout;
  int64_t image, first, rows;

  // Copies the elements of the windows of some channels to columns [channels K, windows], or adds these to
  // them.
  template <bool gathers, class T>
  void transfer(const Tensor& sorted, int64_t channel, int64_t channels, T* column) const {
    const WindowAxis &h = layout.h, &w = layout.w;
    T* const x = detail::first_of<T>(sorted) + image * sorted.strides()[0] + first * layout.columns;
    for (const int64_t end = channel + channels; channel < end; ++channel)
      for (int64_t i = 0; i < h.size; ++i)
        for (int64_t j = 0; j < w.size; ++j) {
          T* line = x + channel * sorted.strides()[1] + layout.offset(i * h.dilation, j * w.dilation);
          for (int64_t row = 0; row < rows; ++row, line += layout.columns, column += w.windows)
            gathers ? copy_line(w.windows, column, 1, line, 1)
                    : update_line(w.windows, line, column, std::plus<>());
        }
  }
};

}  // namespace

Tensor convolution(const ConvParts& given, const Tensor& bias, const Windows& windows) {
  if (reference_mode()) return plain::convolution(given, bias, windows);
  const Tensor &x = given[0], &weight = given[1], &y = given[2];
  const std::array<int64_t, 3> sizes = conv_sizes(given, windows);
  const int64_t n = sizes[0], o = sizes[1], c = sizes[2];  // names that OpenMP can capture
  const SortedLayout layout{windows.h, windows.w};
  const int64_t groups = windows.groups, k = c * windows.size(), l = windows.count();
  const DType dtype = (x.defined() ? x : y).dtype();
  const Tensor all_x = x.defined() ? layout.sorted(x) : layout.zeros(n, groups * c, dtype);
  const Shape y_shape{n, groups * o, windows.h.windows, windows.w.windows};
  const Tensor all_y = y.defined() ? contiguous(y) : Tensor::empty(y_shape, dtype);
  // W, or where x is computed W^T, so that the products of all images read dense rows. Else W^T is computed.
  Tensor w = contiguous(weight), sum = kernel::full({weight.defined() ? 0 : groups, k, o}, 0, dtype);
  if (!x.defined()) w = contiguous(last_swapped_with(TensorImpl::view(w, {groups, o, k}), 1));
  // As many rows of windows as stay in the cache as columns.
  const int64_t rows = std::clamp<int64_t>((1 << 18) / std::max<int64_t>(1, groups * k * windows.w.windows),
                                           1, windows.h.windows);
  visit_floating(dtype, [&]<class T>(Type<T>) {
    const auto each_band = [&](int64_t image, const auto& f) {
      for (int64_t first = 0; first < windows.h.windows; first += rows) {
        const Band band{layout, image, first, std::min(rows, windows.h.windows - first)};
        const int64_t begin = first * windows.w.windows, count = band.rows * windows.w.windows;
        const Tensor columns = layout.is_columns ? TensorImpl::view(all_x, {groups * k, count}, {l, 1},
                                                                    image * groups * k * l + begin)
                                                 : Tensor::empty({groups * k, count}, dtype);
        if (x.defined() && !layout.is_columns)
          band.transfer<true>(all_x, 0, groups * c, detail::first_of<T>(columns));
        f(columns, begin, count, columns.strides()[0]);
        if (!x.defined() && !layout.is_columns)
          band.transfer<false>(all_x, 0, groups * c, detail::first_of<T>(columns));
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
          const T* const w_g = detail::first_of<T>(w) + g * o * k;
          const Matrix<T> x_g{detail::first_of<T>(columns) + g * k * step, step, 1};
          const Matrix<T> y_g{detail::first_of<T>(all_y) + (image * groups + g) * o * l + first, l, 1};
          if (x.defined()) gemm<T>(o, count, k, 1, {w_g, k, 1}, x_g, {}, y_g);
          if (y.defined()) gemm<T>(k, count, o, 1, {w_g, o, 1}, y_g, {}, x_g);
        }
      });
    });
  });
  if (!weight.defined())
    return TensorImpl::view(contiguous(last_swapped_with(sum, 1)),
                            {groups * o, c, windows.h.size, windows.w.size});
  Tensor result = x.defined() ? all_y : layout.unsorted(all_x);
  if (bias.defined()) add_into(result, TensorImpl::view(contiguous(bias), {bias.numel(), 1, 1}));
  return result;
}

Tensor unfold(const Tensor& x, const Windows& windows) {
  const SortedLayout layout{windows.h, windows.w};
  const int64_t channels = x.size(1), k = windows.size(), l = windows.count();
  const Tensor all_x = layout.sorted(x);
  Tensor y = Tensor::empty({x.size(0), channels * k, l}, x.dtype());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    each_row(x.size(0) * channels, k * l, [&](int64_t i) {
      const Band all{layout, i / channels, 0, windows.h.windows};
      all.transfer<true>(all_x, i % channels, 1, detail::first_of<T>(y) + i * k * l);
    });
  });
  return y;
}

Tensor fold(const Tensor& columns, const Windows& windows) {
  const SortedLayout layout{windows.h, windows.w};
  const int64_t k = windows.size(), channels = columns.size(1) / k, l = windows.count();
  const Tensor y = contiguous(columns), x = layout.zeros(y.size(0), channels, y.dtype());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    each_row(y.size(0) * channels, k * l, [&](int64_t i) {
      const Band all{layout, i / channels, 0, windows.h.windows};
      all.transfer<false>(x, i % channels, 1, detail::first_of<T>(y) + i * k * l);
    });
  });
  return layout.unsorted(x);
}

}  // namespace heed::kernel
