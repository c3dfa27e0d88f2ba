#include "tensor/kernels/conv.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"

namespace heed::kernel {
namespace {

constexpr int64_t kPart = 32;  // columns of a weight that a task computes

// Note [Convolution as a product]
//
// Images are copied with the zeros around them, and sorted by the positions of rows and columns modulo the
// stride: [N, C, stride, stride, rows, columns]. Windows that are adjacent in the image are then adjacent in
// memory. The elements ij of all windows of an image are a matrix X_ij [C, L] that products read and write in
// place, from the first to the last window, with the few columns in which no window begins. With the results
// Y [O, L] in the same rows, and W_ij [C, O]:
//
//   y         Y = sum_ij W_ij^T X_ij
//   x         X_ij += W_ij Y            for all ij; Y is 0 where no window begins
//   weight    W_ij = sum_n X_ij Y^T
struct Layout {
  explicit Layout(const Windows& windows) : h(windows.h), w(windows.w) {}

  const WindowAxis &h, &w;
  const int64_t rows = ceil_div(std::max(h.span(), h.in + h.padding), h.stride);
  const int64_t columns = ceil_div(std::max(w.span(), w.in + w.padding), w.stride);
  const int64_t length = (h.windows - 1) * columns + w.windows;  // L

  Tensor zeros(int64_t n, int64_t channels, DType dtype) const {
    return full({n, channels, h.stride, w.stride, rows, columns}, 0, dtype);
  }
  // Calls f(image, sorted) with the parts of images x and of sorted ones that are the same elements.
  template <class F>
  void each_part(const Tensor& x, const Tensor& sorted, const F& f) const {
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
    const Tensor y = zeros(x.size(0), x.size(1), x.dtype());
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
  // [N, C, h.windows, w.windows] in the matrices [columns of rows] of x, from an offset on.
  Tensor windows(const Tensor& x, int64_t from = 0) const {
    const Strides& s = x.strides();
    return TensorImpl::view(x, {x.size(0), x.size(1), h.windows, w.windows}, {s[0], s[1], columns, 1}, from);
  }
};

}  // namespace

Tensor convolution(const ConvParts& given, const Tensor& bias, const Windows& windows) {
  if (reference_mode()) return plain::convolution(given, bias, windows);
  const auto& [x, weight, y] = given;
  const auto [n, o, c] = conv_sizes(given, windows);
  const Layout layout(windows);
  const int64_t groups = windows.groups, elements = windows.size(), l = layout.length;
  const DType dtype = (x.defined() ? x : y).dtype();
  const Tensor all_x = x.defined() ? layout.sorted(x) : layout.zeros(n, groups * c, dtype);
  const Tensor all_y = full({n, groups * o, windows.h.windows, layout.columns}, 0, dtype);
  if (y.defined()) copy_into(layout.windows(all_y), y);
  // [elements, groups c, o], and seen as a weight: [groups, o, c, elements]
  const Tensor all_w = full({elements, groups * c, o}, 0, dtype);
  const Shape shape{groups, o, c, elements};
  const Tensor as_weight = TensorImpl::view(all_w, shape, {c * o, 1, o, groups * c * o});
  if (weight.defined()) copy_into(as_weight, TensorImpl::view(contiguous(weight), shape));

  product_flops() += 2 * n * windows.count() * groups * o * c * elements;
  visit_floating(dtype, [&]<class T>(Type<T>) {
    const auto rows = [](const Tensor& of, int64_t matrix, int64_t row) {
      const Strides& s = of.strides();
      return Matrix<T>{detail::first_of<T>(of) + matrix * s[0] + row * s[1], s[1], 1};
    };
    const auto x_ij = [&](int64_t image, int64_t group, int64_t element) {
      return rows(all_x, image, group * c).block(0, layout.offset(element));
    };
    // A task adds to an image of x or y, or to some columns of a group's weight, that no other adds to. It
    // packs Y once for all elements.
    const int64_t parts = weight.defined() ? n : ceil_div(o, kPart), work = n * o * c * l * elements / 32;
    each_row(groups * parts, work / std::max<int64_t>(groups * parts, 1), [&](int64_t task) {
      const int64_t group = task % groups, part = task / groups, first = part * kPart;
      PackedMatrix<T> packed;
      if (!x.defined()) packed.pack(o, l, 1, rows(all_y, part, group * o));
      for (int64_t e = 0; weight.defined() && e < elements; ++e) {
        const Matrix<T> w_ij = rows(all_w, e, group * c), y_n = rows(all_y, part, group * o),
                        to = x_ij(part, group, e);
        if (!y.defined()) gemm<T>(o, l, c, 1, w_ij.transposed(), to, y_n, y_n);
        if (!x.defined()) packed.multiply(c, l, o, w_ij, to, to);
      }
      for (int64_t image = 0; !weight.defined() && image < n; ++image) {
        const int64_t columns = std::min(kPart, o - first);
        packed.pack(l, columns, 1, rows(all_y, image, group * o + first).transposed());
        for (int64_t e = 0; e < elements; ++e) {
          const Matrix<T> sum = rows(all_w, e, group * c).block(0, first);
          packed.multiply(c, columns, l, x_ij(image, group, e), sum, sum);
        }
      }
    });
  });
  if (!weight.defined())
    return TensorImpl::view(contiguous(as_weight), {groups * o, c, windows.h.size, windows.w.size});
  const Tensor result = x.defined() ? layout.windows(all_y) : layout.unsorted(all_x);
  return bias.defined() ? add(result, TensorImpl::view(contiguous(bias), {bias.numel(), 1, 1}))
                        : contiguous(result);
}

// Calls f(column, elements) for each element of the windows, with views [N, C, h.windows, w.windows].
template <class F>
static void each_element(const Layout& layout, const Tensor& columns, const Tensor& sorted, const F& f) {
  const int64_t elements = layout.h.size * layout.w.size, count = layout.h.windows * layout.w.windows;
  const Shape shape = layout.windows(sorted).shape();
  for (int64_t e = 0; e < elements; ++e)
    f(TensorImpl::view(columns, shape, {columns.size(1) * count, elements * count, layout.w.windows, 1},
                       e * count),
      layout.windows(sorted, layout.offset(e)));
}

Tensor unfold(const Tensor& x, const Windows& windows) {
  const Layout layout(windows);
  Tensor y = Tensor::empty({x.size(0), x.size(1) * windows.size(), windows.count()}, x.dtype());
  each_element(layout, y, layout.sorted(x),
               [](const Tensor& column, const Tensor& e) { copy_into(column, e); });
  return y;
}

Tensor fold(const Tensor& columns, const Windows& windows) {
  const Layout layout(windows);
  const Tensor x = layout.zeros(columns.size(0), columns.size(1) / windows.size(), columns.dtype());
  each_element(layout, contiguous(columns), x,
               [](const Tensor& column, const Tensor& e) { add_into(e, column); });
  return layout.unsorted(x);
}

}  // namespace heed::kernel
