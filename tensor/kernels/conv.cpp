#include "tensor/kernels/conv.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"

namespace heed::kernel {
namespace {

// Note [Convolution as a product]
//
// With the windows of images as columns, a convolution is a product of matrices for each group of channels:
//
//   forward              y [O, L] = weight [O, C K] columns [C K, L]     K elements in a window, L windows
//   gradient of x        columns = weight^T y, folded back into images
//   gradient of weight   weight^T [C K, O] = columns y^T
//
// Only the columns of a block of images or of rows exist at a time, so that they stay in the cache. Images
// are first copied with the zeros around them: no element of a window then needs a test.

// to[i] = from[i] for a short row, without a call: in vectors, or in parts of one.
template <int64_t bytes = kVectorBytes, class T>
void copy_row(int64_t n, const T* from, T* to) {
  using Vector = Simd<T, bytes>;
  if (n >= Vector::size) {
    for (int64_t i = 0; i < n - Vector::size; i += Vector::size)
      Vector::store(to + i, Vector::load(from + i));
    Vector::store(to + n - Vector::size, Vector::load(from + n - Vector::size));
  } else if constexpr (bytes > 16) {
    copy_row<bytes / 2>(n, from, to);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

// to[i] += from[i] for a short row.
template <int64_t bytes = kVectorBytes, class T>
void add_row(int64_t n, const T* from, T* to) {
  using Vector = Simd<T, bytes>;
  int64_t i = 0;
  for (; i + Vector::size <= n; i += Vector::size)
    Vector::store(to + i, Vector::load(to + i) + Vector::load(from + i));
  if constexpr (bytes > 16)
    add_row<bytes / 2>(n - i, from + i, to + i);
  else
    for (; i < n; ++i) to[i] += from[i];
}

// Some images with the zeros around them, [images, channels, h.span(), w.stride, columns]. The elements of a
// row are sorted by their positions modulo the stride, so that those of adjacent windows are adjacent.
template <class T>
class PaddedImages {
 public:
  PaddedImages(const Windows& windows, int64_t images, int64_t channels)
      : h_(windows.h),
        w_(windows.w),
        columns_(ceil_div(w_.span(), w_.stride)),
        values_(kernel::full({images, channels, h_.span(), w_.stride, columns_}, 0, dtype_of<T>)),
        first_(detail::first_of<T>(values_)) {
    for (int64_t n = 0; n < images; ++n)
      for (int64_t y = 0; y < h_.windows; ++y)
        runs_.push_back(n * values_.strides()[0] + y * h_.stride * w_.stride * columns_);
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < h_.size; ++i)
        for (int64_t j = 0; j < w_.size; ++j) {
          const int64_t row = c * h_.span() + i * h_.dilation, x = j * w_.dilation;
          elements_.push_back((row * w_.stride + x % w_.stride) * columns_ + x / w_.stride);
        }
  }

  // Copies from images n, n + 1, ... of x [N, C, H, W].
  void read(const Tensor& x, int64_t n) {
    const int64_t step = x.strides()[3] * w_.stride;
    each_line(x, n, [step](int64_t count, const T* image, T* padded) {
      if (step == 1) return copy_row(count, image, padded);
      for (int64_t i = 0; i < count; ++i) padded[i] = image[i * step];
    });
  }
  // Copies back.
  void write(const Tensor& x, int64_t n) {
    each_line(x, n, [step = w_.stride](int64_t count, T* image, const T* padded) {
      for (int64_t i = 0; i < count; ++i) image[i * step] = padded[i];
    });
  }
  // Copies the windows to columns [C K, windows of all images].
  void unfold(T* to) const {
    for (const int64_t element : elements_)
      for (const int64_t run : runs_) {
        copy_row(w_.windows, first_ + element + run, to);
        to += w_.windows;
      }
  }
  // Adds columns to the windows.
  void fold(const T* from) {
    for (const int64_t element : elements_)
      for (const int64_t run : runs_) {
        add_row(w_.windows, from, first_ + element + run);
        from += w_.windows;
      }
  }

 private:
  // Calls f(count, image, padded) with the part that lies in the image of each row and remainder.
  template <class F>
  void each_line(const Tensor& x, int64_t first, const F& f) {
    T* padded = first_;
    const int64_t end = first + values_.shape()[0];
    for (int64_t n = first; n < end; ++n)
      for (int64_t c = 0; c < values_.shape()[1]; ++c)
        for (int64_t y = -h_.padding; y < h_.span() - h_.padding; ++y)
          for (int64_t r = 0; r < w_.stride; ++r, padded += columns_) {
            const int64_t from = std::max<int64_t>(0, ceil_div(w_.padding - r, w_.stride));
            const int64_t to = std::min(columns_, ceil_div(w_.in + w_.padding - r, w_.stride));
            if (y < 0 || y >= h_.in || from >= to) continue;
            const Strides& s = x.strides();
            f(to - from,
              detail::first_of<T>(x) + n * s[0] + c * s[1] + y * s[2] +
                  (from * w_.stride + r - w_.padding) * s[3],
              padded + from);
          }
  }

  const WindowAxis h_, w_;
  const int64_t columns_;
  const Tensor values_;
  T* const first_;
  std::vector<int64_t> runs_, elements_;  // offsets of each row of windows, and of each element of window 0
};

// Images, or rows of windows of one image, whose windows are the columns of one product.
struct Block {
  int64_t n, images, row;
  Windows windows;

  // What belongs to the block of y [N, C, all windows], contiguous: [groups, C / groups, images, windows].
  Tensor part_of(const Tensor& y, const Windows& all) const {
    const int64_t groups = all.groups, channels = y.size(1), count = all.count();
    return TensorImpl::view(y, {groups, channels / groups, images, windows.count()},
                            {channels / groups * count, count, channels * count, 1},
                            n * channels * count + row * all.w.windows);
  }
  // The same as [groups, C / groups, columns].
  Tensor columns_of(const Tensor& y, const Windows& all) const {
    const Tensor part = images == 1 ? part_of(y, all) : contiguous(part_of(y, all));
    const Shape& s = part.shape();
    return TensorImpl::view(part, {s[0], s[1], s[2] * s[3]}, {part.strides()[0], part.strides()[1], 1});
  }
  // The windows of x as columns, [groups, C K / groups, columns].
  template <class T>
  Tensor unfolded(const Tensor& x, const Windows& all) const {
    const auto is_image = [](const WindowAxis& a) {
      return a.windows == a.in && a.size == 1 && a.stride == 1 && a.padding == 0;
    };
    if (is_image(all.h) && is_image(all.w)) return columns_of(x, all);
    PaddedImages<T> padded(windows, images, x.size(1));
    padded.read(x, n);
    Tensor columns = Tensor::empty(
        {all.groups, x.size(1) / all.groups * all.size(), images * windows.count()}, dtype_of<T>);
    padded.unfold(detail::first_of<T>(columns));
    return columns;
  }
};

// A batch in blocks of 256 to 1024 columns where possible. Their bounds follow from sizes alone.
struct Blocks {
  const Windows& windows;
  const int64_t n;
  const int64_t images = std::max<int64_t>(1, std::min(n, 256 / windows.count()));
  const int64_t rows = ceil_div(windows.h.windows, ceil_div(windows.count(), 1024));
  const int64_t bands = ceil_div(windows.h.windows, rows);
  const int64_t count = ceil_div(n, images) * bands;

  Block operator[](int64_t i) const {
    Block block{i / bands * images, 0, i % bands * rows, windows};
    block.images = std::min(images, n - block.n);
    block.windows.h.windows = std::min(rows, windows.h.windows - block.row);
    block.windows.h.padding -= block.row * windows.h.stride;
    return block;
  }
};

// Counts the operations of products that other threads compute.
struct FlopCount {
  explicit FlopCount(int64_t multiplications) : after(product_flops() + 2 * multiplications) {}
  ~FlopCount() { product_flops() = after; }
  const int64_t after;
};

// Calls f(i, padded) with empty images for each number of an image, in parallel.
template <class T, class F>
void each_image(const Windows& windows, int64_t n, int64_t channels, const F& f) {
  const int64_t size = channels * windows.size() * windows.count();
  parallel_for(n, rows_per_block(size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      PaddedImages<T> padded(windows, 1, channels);
      f(i, padded);
    }
  });
}

// weight [O, C / groups, h.size, w.size] as [groups, O / groups, C K / groups].
Tensor filters(const Tensor& weight, const Windows& windows) {
  const int64_t groups = windows.groups;
  return TensorImpl::view(contiguous(weight),
                          {groups, weight.size(0) / groups, weight.size(1) * windows.size()});
}

// x + bias for each channel.
Tensor biased(const Tensor& x, const Tensor& bias) {
  return bias.defined() ? add(x, TensorImpl::view(contiguous(bias), {x.size(1), 1, 1})) : x;
}

Tensor swapped(const Tensor& x) { return last_swapped_with(x, x.dim() - 2); }

}  // namespace

Tensor conv2d(const Tensor& strided, const Tensor& weight, const Tensor& bias, const Windows& windows) {
  if (reference_mode()) return plain::conv2d(strided, weight, bias, windows);
  const Tensor x = contiguous(strided), w = filters(weight, windows);
  Tensor y = Tensor::empty({x.size(0), weight.size(0), windows.h.windows, windows.w.windows}, x.dtype());
  if (y.numel() == 0) return y;
  const Tensor start = bias.defined() ? TensorImpl::view(contiguous(bias), {w.size(0), w.size(1), 1}) : bias;
  const Blocks blocks{windows, x.size(0)};
  const FlopCount flops(y.numel() * w.size(2));
  const double work =
      static_cast<double>(w.numel() * blocks[0].images) * static_cast<double>(windows.count());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    parallel_for(blocks.count, products_per_block(work), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Block block = blocks[i];
        const Tensor part = block.part_of(y, windows);
        const Tensor product = matmul(w, block.unfolded<T>(x, windows), start);
        copy_into(part, TensorImpl::view(product, part.shape()));
      }
    });
  });
  return y;
}

Tensor conv_transpose2d(const Tensor& strided, const Tensor& weight, const Tensor& bias,
                        const Windows& windows) {
  if (reference_mode()) return biased(plain::conv_transpose2d(strided, weight, windows), bias);
  const Tensor y = contiguous(strided), filter = swapped(filters(weight, windows));
  const int64_t groups = windows.groups, n = y.size(0), channels = weight.size(1) * groups;
  const int64_t count = windows.count();
  Tensor x = kernel::full({n, channels, windows.h.in, windows.w.in}, 0, y.dtype());
  const FlopCount flops(y.numel() * filter.size(1));
  visit_floating(y.dtype(), [&]<class T>(Type<T>) {
    each_image<T>(windows, n, channels, [&](int64_t i, PaddedImages<T>& padded) {
      const Tensor image = TensorImpl::view(y, {groups, y.size(1) / groups, count},
                                            {y.size(1) / groups * count, count, 1}, i * y.size(1) * count);
      padded.fold(matmul(filter, image).template data<T>());
      padded.write(x, i);
    });
  });
  return biased(x, bias);
}

Tensor conv2d_weight(const Tensor& strided_x, const Tensor& strided_y, const Windows& windows) {
  if (reference_mode()) return plain::conv2d_weight(strided_x, strided_y, windows);
  const Tensor x = contiguous(strided_x), y = contiguous(strided_y);
  const int64_t groups = windows.groups, k = x.size(1) / groups * windows.size();
  Tensor sum = kernel::full({groups, k, y.size(1) / groups}, 0, x.dtype());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    const Blocks blocks{windows, x.size(0)};
    for (int64_t i = 0; i < blocks.count && sum.numel() > 0; ++i)
      sum = matmul(blocks[i].unfolded<T>(x, windows), swapped(blocks[i].columns_of(y, windows)), sum);
  });
  return TensorImpl::view(contiguous(swapped(sum)),
                          {y.size(1), x.size(1) / groups, windows.h.size, windows.w.size});
}

Tensor unfold(const Tensor& x, const Windows& windows) {
  if (reference_mode()) return plain::unfold(x, windows);
  const int64_t n = x.size(0), rows = x.size(1) * windows.size(), count = windows.count();
  Tensor y = Tensor::empty({n, rows, count}, x.dtype());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    each_image<T>(windows, n, x.size(1), [&](int64_t i, PaddedImages<T>& padded) {
      padded.read(x, i);
      padded.unfold(detail::first_of<T>(y) + i * rows * count);
    });
  });
  return y;
}

Tensor fold(const Tensor& strided, const Windows& windows) {
  if (reference_mode()) return plain::fold(strided, windows);
  const Tensor columns = contiguous(strided);
  const int64_t n = columns.size(0), rows = columns.size(1), channels = rows / windows.size();
  Tensor x = kernel::full({n, channels, windows.h.in, windows.w.in}, 0, columns.dtype());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    each_image<T>(windows, n, channels, [&](int64_t i, PaddedImages<T>& padded) {
      padded.fold(columns.data<T>() + i * rows * windows.count());
      padded.write(x, i);
    });
  });
  return x;
}

}  // namespace heed::kernel
