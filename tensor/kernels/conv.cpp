#include "tensor/kernels/conv.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"
#include "tensor/kernels/reduce.h"

namespace heed::kernel {
namespace {

// Note [Convolution as a product]
//
// The windows of an image as columns make a convolution a product of matrices, for each group of channels:
//
//   forward                y [O, L] = weight [O, C K] columns [C K, L]        K elements in a window, L
//   windows gradient of x          columns = weight^T y, folded back into images gradient of weight weight^T
//   [C K, O] = columns y^T
//
// Forward never has the columns in memory: gemm() packs its right matrix into panels, and these are written
// directly from the images. The gradient of x is a convolution of y with mirrored windows where the stride is
// 1. Images are first copied with the zeros around them, so that no element of a window needs a test.

/// to[i] = from[i] for short rows: without a call, in parts of a vector.
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

/// to[i] += from[i]
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

// Adjacent windows of a row: where their first elements are, and in which column of a matrix.
struct Run {
  int64_t first, column, count;
};
using Runs = std::vector<Run>;

// Some channels of some images with the zeros around them, [images, channels, h.span(), w.stride, columns].
// The elements of a row are sorted by their positions modulo the stride, so that those of adjacent windows
// are adjacent.
template <class T>
class PaddedImages {
 public:
  PaddedImages(const Windows& windows, int64_t images, int64_t channels)
      : h_(windows.h),
        w_(windows.w),
        channels_(channels),
        images_(images),
        columns_(ceil_div(w_.span(), w_.stride)),
        values_(full({images, channels, h_.span(), w_.stride, columns_}, 0, dtype_of<T>)),
        first_(detail::first_of<T>(values_)) {
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < h_.size; ++i)
        for (int64_t j = 0; j < w_.size; ++j) {
          const int64_t row = c * h_.span() + i * h_.dilation, x = j * w_.dilation;
          elements_.push_back((row * w_.stride + x % w_.stride) * columns_ + x / w_.stride);
        }
  }

  // Copies from images n, n + 1, ... of x [N, C, H, W] and their channels c, c + 1, ...
  void read(const Tensor& x, int64_t n, int64_t c) {
    const int64_t step = x.strides()[3] * w_.stride;
    each_line(x, n, c, [step](int64_t count, const T* image, T* padded) {
      if (step == 1) return copy_row(count, image, padded);
      for (int64_t i = 0; i < count; ++i) padded[i] = image[i * step];
    });
  }
  // Copies back.
  void write(const Tensor& x, int64_t n, int64_t c) {
    each_line(x, n, c, [step = w_.stride](int64_t count, T* image, const T* padded) {
      for (int64_t i = 0; i < count; ++i) image[i * step] = padded[i];
    });
  }

  // Appends the runs of `count` windows from number `first` on, counted through all images.
  void add_runs(int64_t first, int64_t count, int64_t column, Runs& runs) const {
    const int64_t row = w_.stride * columns_, image = channels_ * h_.span() * row;
    while (count > 0) {
      const int64_t x = first % w_.windows, line = first / w_.windows;
      const int64_t n = line / h_.windows, y = line % h_.windows, length = std::min(count, w_.windows - x);
      runs.push_back({n * image + y * h_.stride * row + x, column, length});
      first += length;
      column += length;
      count -= length;
    }
  }

  // Copies elements e, e + 1, ... of the windows [C K] to rows that are `step` apart.
  void unfold(int64_t e, int64_t count, const Runs& runs, T* to, int64_t step) const {
    for (; count > 0; ++e, --count, to += step)
      for (const Run& run : runs)
        copy_row(run.count, first_ + elements_[static_cast<size_t>(e)] + run.first, to + run.column);
  }
  // Adds all rows to the elements.
  void fold(const Runs& runs, const T* from, int64_t step) {
    for (const int64_t element : elements_) {
      for (const Run& run : runs) add_row(run.count, from + run.column, first_ + element + run.first);
      from += step;
    }
  }

  // How gemm() reads the windows of all images as columns.
  WritePanel<T> panels(Runs& runs) const {
    return [this, &runs, end = images_ * h_.windows * w_.windows](int64_t p, int64_t depth, int64_t first,
                                                                  int64_t last, int64_t vectors, T* panel) {
      constexpr int64_t lanes = Simd<T>::size;
      runs.clear();
      add_runs(first, (vectors - 1) * lanes, 0, runs);
      add_runs(last, std::min(lanes, end - last), (vectors - 1) * lanes, runs);
      unfold(p, depth, runs, panel, vectors * lanes);
    };
  }

 private:
  // Calls f(count, image, padded) with the part that lies in the image of each row and remainder.
  template <class F>
  void each_line(const Tensor& x, int64_t first_image, int64_t first_channel, const F& f) {
    T* padded = first_;
    for (int64_t n = 0; n < images_; ++n)
      for (int64_t c = 0; c < channels_; ++c)
        for (int64_t y = -h_.padding; y < h_.span() - h_.padding; ++y)
          for (int64_t r = 0; r < w_.stride; ++r, padded += columns_) {
            const int64_t begin = std::max<int64_t>(0, ceil_div(w_.padding - r, w_.stride));
            const int64_t end = std::min(columns_, ceil_div(w_.in + w_.padding - r, w_.stride));
            if (y < 0 || y >= h_.in || begin >= end) continue;
            const int64_t column = begin * w_.stride + r - w_.padding;
            f(end - begin,
              detail::first_of<T>(x) + (first_image + n) * x.strides()[0] +
                  (first_channel + c) * x.strides()[1] + y * x.strides()[2] + column * x.strides()[3],
              padded + begin);
          }
  }

  const WindowAxis h_, w_;
  const int64_t channels_, images_, columns_;
  const Tensor values_;
  T* const first_;
  std::vector<int64_t> elements_;  // of window 0: where it is
};

// Images, or rows of windows of one image, whose windows become the columns of one product.
struct Block {
  int64_t n, images, y;
  Windows windows;
  int64_t columns() const { return images * windows.count(); }
};

// A batch in blocks of 256 to 1024 columns where possible. Their bounds follow from sizes alone.
struct Blocks {
  const Windows& windows;
  const int64_t n;
  const int64_t images = std::clamp<int64_t>(256 / std::max<int64_t>(1, windows.count()), 1, n);
  const int64_t rows = ceil_div(windows.h.windows, ceil_div(windows.count(), 1024));
  const int64_t bands = ceil_div(windows.h.windows, rows);
  const int64_t count = ceil_div(n, images) * bands;

  Block operator[](int64_t i) const {
    Block block{i / bands * images, 0, i % bands * rows, windows};
    block.images = std::min(images, n - block.n);
    block.windows.h.windows = std::min(rows, windows.h.windows - block.y);
    block.windows.h.padding -= block.y * windows.h.stride;
    return block;
  }
};

// The rows of some channels of y [N, C, L] for the columns of a block: in place, or side by side in a copy if
// the block has several images.
template <class T>
struct ChannelRows {
  const Block& block;
  const int64_t channels, length;
  const Matrix<T> in_place;  // of the first image
  const int64_t image;       // distance of images
  const Tensor joined =
      block.images == 1 ? Tensor() : Tensor::empty({channels, block.images, length}, dtype_of<T>);
  const Matrix<T> matrix =
      block.images == 1 ? in_place : Matrix<T>{detail::first_of<T>(joined), block.columns(), 1};

  ChannelRows(const Tensor& y, const Windows& all, const Block& b, int64_t first, int64_t count)
      : block(b),
        channels(count),
        length(all.count()),
        in_place{detail::first_of<T>(y) + (b.n * y.size(1) + first) * length + b.y * all.w.windows, length,
                 1},
        image(y.size(1) * length) {}
  // Calls f(row in place, row in the copy) if there is a copy.
  template <class F>
  void each_copied(const F& f) const {
    for (int64_t c = 0; block.images > 1 && c < channels; ++c)
      for (int64_t n = 0; n < block.images; ++n) f(in_place.at(c, n * image), matrix.at(c, n * length));
  }
  void gather() const {
    each_copied([this](const T* y, T* row) { copy_row(length, y, row); });
  }
  void scatter() const {
    each_copied([this](T* y, const T* row) { copy_row(length, row, y); });
  }
};

// Whether the windows are the elements of the image in their order.
bool are_elements(const Windows& windows) {
  const auto are = [](const WindowAxis& a) {
    return a.size == 1 && a.stride == 1 && a.padding == 0 && a.windows == a.in;
  };
  return are(windows.h) && are(windows.w);
}

// The channels of a group that are multiplied together: their columns of a block stay in the cache.
int64_t channels_at_once(const Windows& windows, int64_t channels) {
  return std::clamp<int64_t>(384 / windows.size(), 1, std::max<int64_t>(1, channels));
}

template <class T>
void forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
             const Windows& windows) {
  const int64_t groups = windows.groups, C = x.size(1) / groups, O = y.size(1) / groups;
  const int64_t k = C * windows.size();
  const T *w = weight.data<T>(), *b = bias.defined() ? bias.data<T>() : nullptr;
  const Blocks blocks{windows, x.size(0)};
  const double work = static_cast<double>(O * k) * static_cast<double>(blocks[0].columns());
  parallel_for(blocks.count * groups, products_per_block(work), [&](int64_t begin, int64_t end) {
    Runs runs;
    for (int64_t task = begin; task < end; ++task) {
      const Block block = blocks[task / groups];
      const int64_t group = task % groups, columns = block.columns();
      const ChannelRows<T> rows(y, windows, block, group * O, O);
      const Matrix<T>& out = rows.matrix;
      for (int64_t o = 0; b && o < O; ++o) std::fill_n(out.at(o, 0), columns, b[group * O + o]);
      const Matrix<const T> start = b ? Matrix<const T>(out) : Matrix<const T>();
      const Matrix<const T> a{w + group * O * k, k, 1};
      if (are_elements(windows) && block.images == 1) {
        const Matrix<const T> image = ChannelRows<T>(x, windows, block, group * C, C).in_place;
        gemm<T>(O, columns, k, 1, a, image, start, out);
      } else {
        PaddedImages<T> images(block.windows, block.images, C);
        images.read(x, block.n, group * C);
        gemm<T>(O, columns, k, a, images.panels(runs), start, out);
      }
      rows.scatter();
    }
  });
}

// The sums of products with columns are folded back into images.
template <class T>
void transposed(const Tensor& x, const Tensor& y, const Tensor& weight, const Windows& windows) {
  const int64_t groups = windows.groups, C = x.size(1) / groups, O = y.size(1) / groups;
  const int64_t size = windows.size(), some = channels_at_once(windows, C), parts = ceil_div(C, some);
  const Blocks blocks{windows, y.size(0)};
  const int64_t tasks = blocks.count / blocks.bands * groups * parts;
  const double work = static_cast<double>(O * some * size) * static_cast<double>(windows.count());
  parallel_for(tasks, products_per_block(work), [&](int64_t begin, int64_t end) {
    Runs runs;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t c = task % parts * some, group = task / parts % groups, channels = std::min(some, C - c);
      const int64_t first = task / parts / groups * blocks.bands, n = blocks[first].n;
      PaddedImages<T> images(windows, blocks[first].images, channels);
      for (int64_t band = first; band < first + blocks.bands; ++band) {
        const Block block = blocks[band];
        const int64_t columns = block.columns();
        const ChannelRows<T> rows(y, windows, block, group * O, O);
        rows.gather();
        const Tensor products = Tensor::empty({channels * size, columns}, dtype_of<T>);
        auto* product = products.mutable_data<T>();
        const Matrix<const T> a{weight.data<T>() + group * O * C * size + c * size, 1, C * size};
        gemm<T>(channels * size, columns, O, 1, a, rows.matrix, {}, {product, columns, 1});
        runs.clear();
        images.add_runs(block.y * windows.w.windows, columns, 0, runs);
        images.fold(runs, product, columns);
      }
      images.write(x, n, group * C + c);
    }
  });
}

// The weight [C, O, K] of the same convolution from y to x, where the stride is 1.
template <class T>
Tensor mirrored(const Tensor& weight, int64_t groups) {
  const int64_t C = weight.size(1), O = weight.size(0) / groups, size = weight.size(2) * weight.size(3);
  Tensor turned = Tensor::empty({groups * C, O, weight.size(2), weight.size(3)}, dtype_of<T>);
  const T* from = weight.data<T>();
  T* to = turned.mutable_data<T>();
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t c = 0; c < C; ++c)
      for (int64_t o = 0; o < O; ++o) {
        const T* window = from + ((g * O + o) * C + c) * size;
        for (int64_t k = size; k-- > 0;) *to++ = window[k];
      }
  return turned;
}

// The gradient of weight, transposed: a sum for each part of the batch, [parts, groups, C K, O].
template <class T>
Tensor weight_sums(const Tensor& x, const Tensor& y, const Windows& windows) {
  const int64_t groups = windows.groups, C = x.size(1) / groups, O = y.size(1) / groups;
  const int64_t size = windows.size(), some = channels_at_once(windows, C), places = ceil_div(C, some);
  const Blocks blocks{windows, x.size(0)};
  const int64_t parts = std::clamp<int64_t>(4 / std::max<int64_t>(1, groups * places), 1, blocks.count);
  const int64_t length = ceil_div(blocks.count, parts);
  Tensor sums = full({parts, groups, C * size, O}, 0, dtype_of<T>);
  const double work =
      static_cast<double>(O * some * size * blocks[0].columns()) * static_cast<double>(length);
  parallel_for(parts * groups * places, products_per_block(work), [&](int64_t begin, int64_t end) {
    Runs runs;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t c = task % places * some, group = task / places % groups, part = task / places / groups;
      const int64_t channels = std::min(some, C - c);
      const Matrix<T> out{detail::first_of<T>(sums) + ((part * groups + group) * C + c) * size * O, O, 1};
      for (int64_t i = part * length; i < std::min(blocks.count, (part + 1) * length); ++i) {
        const Block block = blocks[i];
        const int64_t columns = block.columns();
        const ChannelRows<T> rows(y, windows, block, group * O, O);
        rows.gather();
        const Matrix<const T> b = rows.matrix.transposed();
        if (are_elements(windows) && block.images == 1) {
          const Matrix<const T> image = ChannelRows<T>(x, windows, block, group * C + c, channels).in_place;
          gemm<T>(channels, O, columns, 1, image, b, out, out);
          continue;
        }
        PaddedImages<T> images(block.windows, block.images, channels);
        images.read(x, block.n, group * C + c);
        const Tensor unfolded = Tensor::empty({channels * size, columns}, dtype_of<T>);
        runs.clear();
        images.add_runs(0, columns, 0, runs);
        images.unfold(0, channels * size, runs, detail::first_of<T>(unfolded), columns);
        gemm<T>(channels * size, O, columns, 1, {unfolded.data<T>(), columns, 1}, b, out, out);
      }
    }
  });
  return sums;
}

// Calls f(n, images, runs) for each image with all of its windows.
template <class T, class F>
void each_image(const Windows& windows, int64_t n, int64_t channels, const F& f) {
  parallel_for(n, rows_per_block(channels * windows.size() * windows.count()),
               [&](int64_t begin, int64_t end) {
                 Runs runs;
                 for (int64_t i = begin; i < end; ++i) {
                   PaddedImages<T> images(windows, 1, channels);
                   runs.clear();
                   images.add_runs(0, windows.count(), 0, runs);
                   f(i, images, runs);
                 }
               });
}

Shape images_shape(int64_t n, int64_t channels, const Windows& windows) {
  return {n, channels, windows.h.in, windows.w.in};
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Windows& windows) {
  if (reference_mode()) return plain::conv2d(x, weight, bias, windows);
  Tensor y = Tensor::empty({x.size(0), weight.size(0), windows.h.windows, windows.w.windows}, x.dtype());
  if (y.numel() == 0) return y;
  product_flops() += 2 * y.numel() * weight.size(1) * windows.size();
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    forward<T>(y, are_elements(windows) ? contiguous(x) : x, contiguous(weight), contiguous(bias), windows);
  });
  return y;
}

Tensor conv_transpose2d(const Tensor& y, const Tensor& weight, const Tensor& bias, const Windows& windows) {
  if (reference_mode()) return plain::conv_transpose2d(y, weight, bias, windows);
  const auto& [h, w, groups] = windows;
  const Tensor packed = contiguous(weight);
  if (h.stride == 1 && w.stride == 1) {
    Tensor turned;
    visit_floating(y.dtype(), [&]<class T>(Type<T>) { turned = mirrored<T>(packed, groups); });
    const auto back = [](const WindowAxis& a) {
      return WindowAxis{a.windows, a.in, a.size, 1, (a.size - 1) * a.dilation - a.padding, a.dilation};
    };
    return conv2d(y, turned, bias, {back(h), back(w), groups});
  }
  Tensor x = full(images_shape(y.size(0), weight.size(1) * groups, windows), 0, y.dtype());
  if (x.numel() > 0 && y.numel() > 0) {
    product_flops() += 2 * y.numel() * weight.size(1) * windows.size();
    visit_floating(y.dtype(), [&]<class T>(Type<T>) { transposed<T>(x, contiguous(y), packed, windows); });
  }
  return bias.defined() ? add(x, TensorImpl::view(contiguous(bias), {x.size(1), 1, 1})) : x;
}

Tensor conv2d_weight(const Tensor& x, const Tensor& y, const Windows& windows) {
  if (reference_mode()) return plain::conv2d_weight(x, y, windows);
  const int64_t groups = windows.groups, C = x.size(1) / groups, O = y.size(1) / groups;
  const Shape shape{y.size(1), C, windows.h.size, windows.w.size};
  if (x.numel() == 0 || y.numel() == 0) return full(shape, 0, x.dtype());
  product_flops() += 2 * y.numel() * C * windows.size();
  Tensor sums;
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    sums = weight_sums<T>(are_elements(windows) ? contiguous(x) : x, contiguous(y), windows);
  });
  if (sums.size(0) > 1) sums = sum(sums, {0}, false);
  const int64_t k = C * windows.size();
  return TensorImpl::view(contiguous(TensorImpl::view(sums, {groups, O, k}, {k * O, 1, O})), shape);
}

Tensor unfold(const Tensor& x, const Windows& windows) {
  if (reference_mode()) return plain::unfold(x, windows);
  const int64_t n = x.size(0), channels = x.size(1), rows = channels * windows.size();
  Tensor y = Tensor::empty({n, rows, windows.count()}, x.dtype());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    each_image<T>(windows, n, channels, [&](int64_t i, PaddedImages<T>& images, const Runs& runs) {
      images.read(x, i, 0);
      images.unfold(0, rows, runs, detail::first_of<T>(y) + i * rows * windows.count(), windows.count());
    });
  });
  return y;
}

Tensor fold(const Tensor& strided, const Windows& windows) {
  if (reference_mode()) return plain::fold(strided, windows);
  const Tensor columns = contiguous(strided);
  const int64_t n = columns.size(0), rows = columns.size(1), channels = rows / windows.size();
  Tensor x = full(images_shape(n, channels, windows), 0, columns.dtype());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    each_image<T>(windows, n, channels, [&](int64_t i, PaddedImages<T>& images, const Runs& runs) {
      images.fold(runs, columns.data<T>() + i * rows * windows.count(), windows.count());
      images.write(x, i, 0);
    });
  });
  return x;
}

}  // namespace heed::kernel
