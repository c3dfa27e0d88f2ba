#include "tensor/kernels/conv.h"

#include <numeric>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"

namespace heed::kernel {
namespace {

// Note [Convolution as a product]
//
// Element e of window l is element windows[l] + elements[e] of an image with the zeros around it. By these
// two tables gemm() reads X [L, C K], the K elements of the L windows of C channels, which is never made. For
// each group of channels, with the weight W [O, C K] and the results Y [O, L] of an image:
//
//   y         Y^T = X W^T, or, if O is less than a vector, Y = W X^T, whose vectors are adjacent windows
//   weight    W^T = sum_n X^T Y^T
//   x         the convolution of y with the elements of W in reverse order. If windows have a stride, a
//             position meets the elements with its remainder: each remainder has a convolution of its own.
//
// The elements of X are sorted by their line in the window. Those above an image are then the first ones of a
// row, and those below it the last ones: products with these zeros are left out.

// to[i] = f(to[i], from[i]). Lines are short: the last vector overlaps the one before it, so that no rest is
// left, and is computed before that one is stored.
template <int64_t bytes = kVectorBytes, class T>
[[gnu::always_inline]] inline void update_line(int64_t n, T* to, const T* from, const auto& f) {
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

// The axis whose windows are the elements of `a`, in each of its windows.
WindowAxis turned(const WindowAxis& a) { return {a.in, a.size, a.windows, a.dilation, a.padding, a.stride}; }

// The elements [begin, end) of window j that lie in the image.
Range inside(const WindowAxis& a, int64_t j) {
  const int64_t first = j * a.stride - a.padding;
  const int64_t begin = std::clamp<int64_t>(ceil_div(-first, a.dilation), 0, a.size);
  return {begin, std::clamp(ceil_div(a.in - first, a.dilation), begin, a.size)};
}

// Copies the elements of the windows of an image to columns [K, L], or adds these to them.
template <bool gathers, class T>
void transfer(const WindowAxis& h, const WindowAxis& w, T* image, T* column) {
  for (int64_t i = 0; i < h.size; ++i)
    for (int64_t j = 0; j < w.size; ++j) {
      const auto [begin, end] = inside(turned(w), j);
      const int64_t first = j * w.dilation - w.padding, n = end - begin;
      for (int64_t a = 0; a < h.windows; ++a, column += w.windows) {
        const int64_t row = a * h.stride + i * h.dilation - h.padding;
        const bool is_inside = row >= 0 && row < h.in && n > 0;
        if (gathers && !is_inside) std::fill_n(column, w.windows, 0);
        if (!is_inside) continue;
        T* const line = image + row * w.in + first + begin * w.stride;
        __builtin_prefetch(line + 1024);
        if (w.stride > 1)
          for (int64_t b = 0; b < n; ++b)
            gathers ? column[begin + b] = line[b * w.stride] : line[b * w.stride] += column[begin + b];
        else if (gathers)
          update_line(n, column + begin, line, [](const auto&, const auto& x) { return x; });
        else
          update_line(n, line, column + begin, std::plus<>());
      }
    }
}

// Some rows of windows at a time, for which a part of the image is copied with the zeros around it.
struct Bands {
  const Windows& of;
  const WindowAxis &h = of.h, &w = of.w;
  const int64_t rows = std::max<int64_t>(1, h.windows / std::max<int64_t>(1, of.count() / 512));
  const int64_t count = ceil_div(h.windows, rows);  // of an image
  // The lines and columns of the copy, and its size for a channel.
  const int64_t lines = std::max<int64_t>(0, (rows - 1) * h.stride + (h.size - 1) * h.dilation + 1);
  const int64_t columns = std::max<int64_t>(0, w.span()), plane = lines * columns;
  std::vector<int64_t> windows, elements;  // see the note

  Bands(const Windows& all, int64_t channels) : of(all) {
    for (int64_t a = 0; a < rows; ++a)
      for (int64_t b = 0; b < w.windows; ++b) windows.push_back(a * h.stride * columns + b * w.stride);
    for (int64_t i = 0; i < h.size; ++i)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t j = 0; j < w.size; ++j)
          elements.push_back(c * plane + i * h.dilation * columns + j * w.dilation);
  }
  // Calls f(image, row, band, copy) for bands [begin, end) of all images: for the axis of windows from `row`
  // on, and a copy of some channels, or these themselves if they need no zeros.
  template <class T>
  void each(int64_t begin, int64_t end, const Tensor& x, int64_t channel, int64_t channels,
            const auto& f) const {
    const bool in_place =
        lines == h.in && columns == w.in && h.padding == 0 && w.padding == 0 && w.windows >= Simd<T>::size;
    // The zeros beside the lines stay. See gemm_lines() for the vector at the end.
    const int64_t size = in_place ? 0 : channels * plane + Simd<T>::size;
    const Tensor memory = kernel::full({size}, 0, dtype_of<T>);
    T* const copy = detail::first_of<T>(memory);
    for (; begin < end; ++begin) {
      const int64_t image = begin / count, row = begin % count * rows;
      const WindowAxis band{h.in,     std::min(rows, h.windows - row), h.size,
                            h.stride, h.padding - row * h.stride,      h.dilation};
      const WindowAxis down{.in = h.in, .windows = lines, .padding = band.padding};
      const WindowAxis along{.in = w.in, .windows = columns, .padding = w.padding};
      T* const from = detail::first_of<T>(x) + (image * x.size(1) + channel) * h.in * w.in;
      for (int64_t c = 0; c < channels && !in_place; ++c)
        transfer<true>(down, along, from + c * h.in * w.in, copy + c * plane);
      f(image, row, band, in_place ? from : copy);
    }
  }
};

// The columns of X or X^T that are multiplied for each window of the axis, which has `rows` rows, if an
// element has `columns`: without zeros, unless so few rows and O results would make too few sums for a tile.
template <class T>
std::vector<Range> ranges(const WindowAxis& axis, int64_t rows, int64_t o, int64_t columns) {
  const bool is_short = rows * ceil_div(o, Simd<T>::size) < 7;
  std::vector<Range> all;
  for (int64_t i = 0; i < axis.windows; ++i) {
    const auto [begin, end] = is_short ? Range{0, axis.size} : inside(axis, i);
    all.push_back({begin * columns, end * columns});
  }
  return all;
}

// y, with the elements of the windows of W in reverse order if `reversed`.
template <class T>
Tensor y_of(const Tensor& x, const Tensor& weight, const Tensor& bias, const Windows& windows,
            bool reversed = false) {
  const int64_t groups = windows.groups, o = weight.size(0) / groups, c = weight.size(1);
  const int64_t k = c * windows.size(), width = windows.w.windows, l = windows.count();
  Tensor y = Tensor::empty({x.size(0), groups * o, windows.h.windows, width}, dtype_of<T>);
  const Bands bands(windows, c);
  const T* const w = detail::first_of<T>(weight);
  const T* const b = bias.defined() ? detail::first_of<T>(bias) : nullptr;
  const bool by_lines = (o < Simd<T>::size || k < 64) && windows.w.stride == 1;
  // Where panels, and images, have the elements of a row of W.
  std::vector<int64_t> places, rows;
  for (int64_t p = 0, size = windows.size(); p < k; ++p) {
    const int64_t e = reversed ? size - 1 - p % size : p % size, line = windows.w.size;
    places.push_back((e / line * c + p / size) * line + e % line);
    rows.push_back(bands.elements[static_cast<size_t>(places.back())]);
  }
  std::vector<PackedMatrix<T>> packed(static_cast<size_t>(by_lines ? 0 : groups));
  for (size_t g = 0; g < packed.size(); ++g)
    packed[g].pack(k, o, 1, {w + static_cast<int64_t>(g) * o * k, 1, k}, places.data());
  const int64_t all = x.size(0) * bands.count, part = groups * o * k * bands.rows * width;
  const int64_t block =
      std::max(products_per_block(static_cast<double>(part)), ceil_div(all, 4 * num_threads()));
  parallel_for(all, block, [&](int64_t begin, int64_t end) {
    const Tensor product = Tensor::empty({bands.rows * width, by_lines ? 0 : groups * o}, dtype_of<T>);
    T* const out = detail::first_of<T>(product);
    const auto multiply = [&](int64_t image, int64_t row, const WindowAxis& band, const T* copy) {
      T* const to = detail::first_of<T>(y) + image * groups * o * l + row * width;
      const int64_t n = band.windows * width;
      const std::vector<Range> inside = ranges<T>(band, width, o, c * windows.w.size);
      for (int64_t g = 0; g < groups; ++g, copy += c * bands.plane) {
        if (!by_lines)
          packed[static_cast<size_t>(g)].multiply(
              n, {copy, bands.windows.data(), bands.elements.data(), inside.data(), width},
              b ? Matrix<const T>{b + g * o, 0, 1} : Matrix<const T>(), {out + g * o, groups * o, 1});
        for (int64_t r = 0; by_lines && r < n; r += width) {
          const Matrix<T> line{to + g * o * l + r, l, 1};
          for (int64_t i = 0; b && i < o; ++i) std::fill_n(line.at(i, 0), width, b[g * o + i]);
          gemm_lines<T>(o, width, k, {w + g * o * k, k, 1}, copy + bands.windows[static_cast<size_t>(r)],
                        rows.data(), b ? Matrix<const T>(line) : Matrix<const T>(), line);
        }
      }
      if (!by_lines) transpose_matrix<T>(groups * o, n, {out, 1, groups * o}, {to, l, 1});
    };
    bands.each<T>(begin, end, x, 0, groups * c, multiply);
  });
  return y;
}

template <class T>
Tensor weight_of(const Tensor& x, const Tensor& y, const Windows& windows) {
  const int64_t groups = windows.groups, o = y.size(1) / groups, c = x.size(1) / groups;
  const int64_t size = windows.size(), l = windows.count();
  const WindowAxis &h = windows.h, &w = windows.w;
  Tensor weight = Tensor::empty({groups * o, c, h.size, w.size}, dtype_of<T>);
  // The threads share the groups, or the channels of a group, in parts for which they pack y.
  const int64_t parts = std::min(c, ceil_div(num_threads(), groups)), all = groups * parts;
  parallel_for(all, parts > 1 ? 1 : ceil_div(all, num_threads()), [&](int64_t begin, int64_t end) {
    const int64_t first = begin % parts * c / parts, n = (begin % parts + 1) * c / parts - first;
    const int64_t group = begin / parts, count = end - begin;
    const Bands bands(windows, n);
    const Tensor sum = kernel::full({count, n * size, o}, 0, dtype_of<T>);
    PackedMatrix<T> packed;
    const auto add = [&](int64_t image, int64_t row, const WindowAxis& band, const T* copy) {
      const std::vector<Range> inside = ranges<T>(turned(band), n * w.size, o, w.windows);
      const T* y_g = detail::first_of<T>(y) + (image * groups + group) * o * l + row * w.windows;
      for (int64_t g = 0; g < count; ++g, copy += n * bands.plane, y_g += o * l) {
        packed.pack(band.windows * w.windows, o, 1, {y_g, 1, l});
        const Matrix<T> to{detail::first_of<T>(sum) + g * n * size * o, o, 1};
        packed.multiply(
            n * size, {copy, bands.elements.data(), bands.windows.data(), inside.data(), n * w.size}, to, to);
      }
    };
    bands.each<T>(0, x.size(0) * bands.count, x, group * c + first, count * n, add);
    const int64_t line = w.size * o;
    const Tensor rows =
        contiguous(TensorImpl::view(sum, {count, n, h.size, line}, {h.size * n * line, line, n * line, 1}));
    for (int64_t g = 0; g < count; ++g)
      transpose_matrix<T>(o, n * size, {detail::first_of<T>(rows) + g * n * size * o, 1, o},
                          {detail::first_of<T>(weight) + ((group + g) * o * c + first) * size, c * size, 1});
  });
  return weight;
}

// Along one axis, every stride-th position of x, and the elements that meet these.
struct Part {
  int64_t first, element = 0, step;  // the first position and element, and the distance of two elements
  WindowAxis axis;                   // of y around these positions

  Part(const WindowAxis& a, int64_t remainder) : step(a.stride / std::gcd(a.stride, a.dilation)) {
    while (element < a.size && element * a.dilation % a.stride != remainder) ++element;
    const int64_t size = ceil_div(a.size - element, step);
    const int64_t outside = ceil_div(std::max<int64_t>(0, a.padding - remainder), a.stride);
    first = outside * a.stride + remainder - a.padding;
    axis = {.in = a.windows,
            .windows = ceil_div(std::max<int64_t>(0, a.in - first), a.stride),
            .size = size,
            .padding = ((element + (size - 1) * step) * a.dilation - remainder) / a.stride - outside,
            .dilation = step * a.dilation / a.stride};
  }
};

template <class T>
Tensor x_of(const Tensor& weight, const Tensor& y, const Tensor& bias, const Windows& windows) {
  const WindowAxis &h = windows.h, &w = windows.w;
  const int64_t groups = windows.groups, o = weight.size(0) / groups, c = weight.size(1),
                size = windows.size();
  Tensor x = Tensor::empty({y.size(0), groups * c, h.in, w.in}, dtype_of<T>);
  for (int64_t i = 0; i < h.stride; ++i)
    for (int64_t j = 0; j < w.stride; ++j) {
      const Part down(h, i), along(w, j);
      const Tensor swapped =
          contiguous(TensorImpl::view(weight, {groups, c, o, down.axis.size, along.axis.size},
                                      {o * c * size, size, c * size, down.step * w.size, along.step},
                                      down.element * w.size + along.element));
      const Shape filters{groups * c, o, down.axis.size, along.axis.size};
      Tensor part =
          y_of<T>(y, TensorImpl::view(swapped, filters), bias, {down.axis, along.axis, groups}, true);
      if (h.stride * w.stride == 1) return part;
      const Strides steps{groups * c * h.in * w.in, h.in * w.in, h.stride * w.in, w.stride};
      copy_into(TensorImpl::view(x, part.shape(), steps, down.first * w.in + along.first), part);
    }
  return x;
}

// The windows of x as columns, or the images in which columns x are added.
template <bool gathers>
Tensor transferred(const Tensor& x, const Windows& windows) {
  const int64_t k = windows.size(), l = windows.count(), size = windows.h.in * windows.w.in;
  const int64_t n = x.size(0), channels = gathers ? x.size(1) : x.size(1) / k;
  const Tensor from = contiguous(x);
  const Shape columns{n, channels * k, l}, images{n, channels, windows.h.in, windows.w.in};
  Tensor y = kernel::full(gathers ? columns : images, 0, x.dtype());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    each_row(n * channels, k * l, [&](int64_t i) {
      transfer<gathers>(windows.h, windows.w, detail::first_of<T>(gathers ? from : y) + i * size,
                        detail::first_of<T>(gathers ? y : from) + i * k * l);
    });
  });
  return y;
}

}  // namespace

Tensor convolution(const ConvParts& parts, const Tensor& bias, const Windows& windows) {
  if (reference_mode()) return plain::convolution(parts, bias, windows);
  const Tensor x = contiguous(parts[0]), weight = contiguous(parts[1]), y = contiguous(parts[2]);
  const Tensor b = contiguous(bias), &images = x.defined() ? x : y;
  const auto& [h, w, groups] = windows;
  const int64_t n = images.size(0), l = windows.count();
  const int64_t o = (y.defined() ? y.size(1) : weight.size(0)) / groups;
  const int64_t c = weight.defined() ? weight.size(1) : x.size(1) / groups;
  // Where windows are the elements themselves, X is the image.
  if (weight.defined() && windows.size() == 1 && l == h.in * w.in && h.padding + w.padding == 0) {
    const Tensor matrix = TensorImpl::view(weight, {groups, o, c});
    const Tensor start = b.defined() ? TensorImpl::view(b, {groups, b.numel() / groups, 1}) : b;
    const Tensor product = matmul(x.defined() ? matrix : last_swapped_with(matrix, 1),
                                  TensorImpl::view(images, {n, groups, x.defined() ? c : o, l}), start);
    return TensorImpl::view(product, {n, groups * (x.defined() ? o : c), h.windows, w.windows});
  }
  product_flops() += 2 * n * groups * o * c * windows.size() * l;
  Tensor result;
  visit_floating(images.dtype(), [&]<class T>(Type<T>) {
    result = !x.defined()   ? x_of<T>(weight, y, b, windows)
             : !y.defined() ? y_of<T>(x, weight, b, windows)
                            : weight_of<T>(x, y, windows);
  });
  return result;
}

Tensor unfold(const Tensor& x, const Windows& windows) { return transferred<true>(x, windows); }
Tensor fold(const Tensor& columns, const Windows& windows) { return transferred<false>(columns, windows); }

}  // namespace heed::kernel
