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
  // Calls f(n, x, step, sorted) for rows of elements: x[0], x[step], ... of images x are sorted[0],
  // sorted[1], ...
  void each_line(const Tensor& all_x, const Tensor& all_sorted, const auto& f) const {
    const Strides &from = all_x.strides(), &to = all_sorted.strides();
    visit_floating(all_x.dtype(), [&]<class T>(Type<T>) {
      each_row(all_x.size(0) * all_x.size(1), h.in * w.in, [&](int64_t row) {
        const int64_t image = row / all_x.size(1), channel = row % all_x.size(1);
        T* x = detail::first_of<T>(all_x) + image * from[0] + channel * from[1];
        T* sorted = detail::first_of<T>(all_sorted) + image * to[0] + channel * to[1];
        for (int64_t y = h.padding; y < h.in + h.padding; ++y, x += from[2])
          for (int64_t j = 0; j < w.stride; ++j) {
            const int64_t left = ceil_div(std::max<int64_t>(w.padding - j, 0), w.stride);
            const int64_t z = left * w.stride + j - w.padding, part = y % h.stride * w.stride + j;
            f(ceil_div(w.in - z, w.stride), x + z * from[3], w.stride * from[3],
              sorted + (part * rows + y / h.stride) * columns + left);
          }
      });
    });
  }
  Tensor sorted(const Tensor& x) const {
    if (h.stride * w.stride == 1 && x.size(2) == rows && x.size(3) == columns) return contiguous(x);
    Tensor y = zeros(x.size(0), x.size(1), x.dtype());
    each_line(x, y, [](int64_t n, const auto* image, int64_t step, auto* part) {
      if (step == 1) return void(std::copy_n(image, std::max<int64_t>(n, 0), part));
      for (int64_t i = 0; i < n; ++i) part[i] = image[i * step];
    });
    return y;
  }
  Tensor unsorted(const Tensor& sorted) const {
    Tensor x = Tensor::empty({sorted.size(0), sorted.size(1), h.in, w.in}, sorted.dtype());
    each_line(x, sorted, [](int64_t n, auto* image, int64_t step, const auto* part) {
      for (int64_t i = 0; i < n; ++i) image[i * step] = part[i];
    });
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

// Note [Winograd]
//
// Adjacent windows of 3 x 3 share most of their elements. For 2 x 2 results of one channel, 16 products are
// enough in the place of 36 (Winograd; Lavin and Gray 2016): with elements x [4, 4] of an image, weights w
// [3, 3] and results y [2, 2], for one factor each of kX, kW and kY below,
//
//   y = Y^T ((W w W^T) * (X x X^T)) Y      * element by element
//
// The part y is linear in w and x as before, so each part follows from the other two in the same way: these
// become 16 numbers P p P^T each, their products are summed over the channels, or for the weights over the
// images, and the sums q become P^T q P, which for x are added up where its parts overlap.
constexpr double kX[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
constexpr double kW[4][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
constexpr double kY[4][2] = {{1, 0}, {1, 1}, {1, -1}, {0, -1}};

// out = P in P^T, or back P^T in P, for n matrices whose elements e have the number i at in(e)[i], out(e)[i].
template <const auto& P, bool back, class T>
void transform(int64_t n, const auto& in, const auto& out) {
  constexpr size_t kSize = std::size(P[0]), kIn = back ? 4 : kSize, kOut = back ? kSize : 4;
  const auto p = [](size_t i, size_t j) { return static_cast<T>(back ? P[j][i] : P[i][j]); };
  std::array<const T*, kIn * kIn> from;
  std::array<T*, kOut * kOut> to;
  for (size_t e = 0; e < from.size(); ++e) from[e] = in(static_cast<int64_t>(e));
  for (size_t e = 0; e < to.size(); ++e) to[e] = out(static_cast<int64_t>(e));
  HEED_VECTORIZE
  for (int64_t m = 0; m < n; ++m) {
    T half[kOut][kIn], sum;
    HEED_UNROLL
    for (size_t i = 0; i < kOut; ++i) HEED_UNROLL
    for (size_t j = 0; j < kIn; ++j) {
      sum = 0;
      HEED_UNROLL
      for (size_t k = 0; k < kIn; ++k)
        if (p(i, k) != 0) sum += p(i, k) * from[k * kIn + j][m];
      half[i][j] = sum;
    }
    HEED_UNROLL
    for (size_t i = 0; i < kOut; ++i) HEED_UNROLL
    for (size_t j = 0; j < kOut; ++j) {
      sum = 0;
      HEED_UNROLL
      for (size_t k = 0; k < kIn; ++k)
        if (p(j, k) != 0) sum += half[i][k] * p(j, k);
      to[i * kOut + j][m] = sum;
    }
  }
}

// A part of a convolution of 3 x 3, x or y, whose images lie sorted in `images` [N, C, 2, 2, rows, columns].
// n squares begin at the positions 0, 1, ... of each image; those that begin in the last column count for
// nothing. Their numbers are [16, C, width] for `count` images. The width is odd: in steps of a power of two
// all 16 would share a few lines of the cache.
template <const auto& P, class T>
struct SquarePart {
  static constexpr int64_t kSize = std::size(P[0]);

  // The numbers of the images from `first` on.
  Tensor numbers(int64_t first, int64_t count, int64_t n) const {
    const Tensor y = kernel::full({16, images.size(1), ceil_div(count * n, 16) * 16}, 0, images.dtype());
    each_image(y, first, count, n, [&](int64_t inside, T* image, T* number, int64_t step) {
      transform<P, false, T>(
          inside, [&](int64_t e) { return image + layout.offset(e); },
          [&](int64_t e) { return number + e * step; });
    });
    return y;
  }
  // Adds what such numbers become.
  void add(const Tensor& sums, int64_t first, int64_t count, int64_t n) const {
    each_image(sums, first, count, n, [&](int64_t inside, T* image, const T* number, int64_t step) {
      std::vector<T> elements(static_cast<size_t>(kSize * kSize * inside));
      const auto element = [&](int64_t e) { return elements.data() + e * inside; };
      transform<P, true, T>(
          inside, [&](int64_t e) { return number + e * step; }, element);
      for (int64_t e = 0; e < kSize * kSize; ++e) {
        T* to = image + layout.offset(e);
        const T* from = element(e);
        HEED_VECTORIZE
        for (int64_t i = 0; i < inside; ++i) to[i] += from[i];
      }
    });
  }
  void each_image(const Tensor& numbers, int64_t first, int64_t count, int64_t n, const auto& f) const {
    const Strides &s = images.strides(), &t = numbers.strides();
    each_row(images.size(1) * count, 32 * n, [&](int64_t row) {
      const int64_t channel = row / count, image = row % count;
      f(n - (kSize > 2),  // the last square of x would end behind the image
        detail::first_of<T>(images) + (first + image) * s[0] + channel * s[1],
        detail::first_of<T>(numbers) + channel * t[1] + image * n, t[0]);
    });
  }

  const SortedLayout& layout;
  Tensor images;
};

constexpr int64_t kSquareChannels = 32;
bool is_square(const WindowAxis& a) { return a.size == 3 && a.stride == 1 && a.dilation == 1; }

// convolution() by Note [Winograd], without a bias.
template <class T>
Tensor convolution_3x3(const ConvParts& given, const Windows& windows) {
  const auto& [x, weight, y] = given;
  const auto [n, o, c] = conv_sizes(given, windows);
  const WindowAxis &h = windows.h, &w = windows.w;
  const int64_t rows = ceil_div(h.windows, 2), columns = ceil_div(w.windows, 2),
                squares = rows * (columns + 1);
  const Windows of_x{{h.in, rows, 4, 2, h.padding}, {w.in, columns, 4, 2, w.padding}};
  const Windows of_y{{h.windows, rows, 2, 2}, {w.windows, columns + 1, 2, 2}};
  const SortedLayout layout_x(of_x), layout_y(of_y);
  const SquarePart<kX, T> part_x{layout_x,
                                 x.defined() ? layout_x.sorted(x) : layout_x.zeros(n, c, dtype_of<T>)};
  const SquarePart<kY, T> part_y{layout_y,
                                 y.defined() ? layout_y.sorted(y) : layout_y.zeros(n, o, dtype_of<T>)};
  const Tensor filters = weight.defined() ? contiguous(weight) : Tensor::empty({o, c, 3, 3}, dtype_of<T>);
  // Calls f(filter, element, number, step) for the c filters of each o; elements are [9, c].
  const auto each_filter = [&](const Tensor& numbers, const auto& f) {
    each_row(o, 64 * c, [&](int64_t i) {
      std::vector<T> elements(static_cast<size_t>(9 * c));
      f(
          detail::first_of<T>(filters) + i * 9 * c, [&](int64_t e) { return elements.data() + e * c; },
          [&](int64_t e) {
            return detail::first_of<T>(numbers) + e * numbers.strides()[0] + i * numbers.strides()[1];
          });
    });
  };
  Tensor sum;  // [16, o, c] of the weight
  if (weight.defined()) {
    sum = TensorImpl::view(Tensor::empty({16, o, c}, dtype_of<T>), {16, o, c}, {o * c, c, 1});
    each_filter(sum, [&](const T* filter, const auto& element, const auto& number) {
      for (int64_t i = 0; i < 9 * c; ++i) element(i % 9)[i / 9] = filter[i];
      transform<kW, false, T>(c, element, number);
    });
  }
  const int64_t images = std::max<int64_t>(1, (1 << 20) / (16 * (o + c) * squares));
  for (int64_t first = 0; first < n; first += images) {
    const int64_t count = std::min(images, n - first);
    const auto numbers = [&](const auto& part) { return part.numbers(first, count, squares); };
    if (!y.defined()) part_y.add(matmul(sum, numbers(part_x)), first, count, squares);
    if (!x.defined()) part_x.add(matmul(last_swapped_with(sum, 1), numbers(part_y)), first, count, squares);
    if (!weight.defined()) sum = matmul(numbers(part_y), last_swapped_with(numbers(part_x), 1), sum);
  }
  if (!y.defined()) return layout_y.unsorted(part_y.images);
  if (!x.defined()) return layout_x.unsorted(part_x.images);
  each_filter(sum, [&](T* filter, const auto& element, const auto& number) {
    transform<kW, true, T>(c, number, element);
    for (int64_t i = 0; i < 9 * c; ++i) filter[i] = element(i % 9)[i / 9];
  });
  return filters;
}

}  // namespace

Tensor convolution(const ConvParts& given, const Tensor& bias, const Windows& windows) {
  if (reference_mode()) return plain::convolution(given, bias, windows);
  const Tensor &x = given[0], &weight = given[1], &y = given[2];
  const std::array<int64_t, 3> sizes = conv_sizes(given, windows);
  const int64_t n = sizes[0], o = sizes[1], c = sizes[2];  // names that OpenMP can capture
  const SortedLayout layout(windows);
  const int64_t groups = windows.groups, k = c * windows.size(), l = windows.count();
  const DType dtype = (x.defined() ? x : y).dtype();
  if (groups == 1 && is_square(windows.h) && is_square(windows.w) && std::min(o, c) >= kSquareChannels) {
    const Tensor part =
        visit_floating(dtype, [&]<class T>(Type<T>) { return convolution_3x3<T>(given, windows); });
    return bias.defined() ? add(part, TensorImpl::view(contiguous(bias), {bias.numel(), 1, 1})) : part;
  }
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
