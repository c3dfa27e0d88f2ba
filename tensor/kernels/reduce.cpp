#include "tensor/kernels/reduce.h"

#include <algorithm>
#include <limits>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/lines.h"

namespace heed::kernel {
namespace {

// A reduction joins values, or packs of them, by an associative operation. `Wide` is the type in which the
// joins of short runs are joined, so that a float32 sum over millions is as good as its dtype.

template <class T>
struct Sum {
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
  static constexpr T start = 0;
  static auto join(auto a, auto b) { return a + b; }
};

template <class T>
struct Maximum {
  using Wide = T;
  static constexpr T start = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                                  : std::numeric_limits<T>::lowest();
  static auto join(auto a, auto b) { return ((a > b) | (a != a)) ? a : b; }
};

template <class T>
struct Minimum {
  using Wide = T;
  static constexpr T start = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                             : sizeof(T) == 1                     ? T(1)
                                                                  : std::numeric_limits<T>::max();
  static auto join(auto a, auto b) { return ((a < b) | (a != a)) ? a : b; }
};

using Bool = unsigned char;  // bools, in packs

// Means alone have a divisor other than 1, and they are of floats.
template <class T, class Wide>
T quotient(Wide value, double divisor) {
  if constexpr (std::is_floating_point_v<T>) value /= static_cast<Wide>(divisor);
  return static_cast<T>(value);
}

constexpr int64_t kRows = 8;  // rows that are joined before they are widened

// The loops of one reduction over one dtype, behind plain pointers, so that what drives them exists once.
struct Loops {
  int64_t wide_bytes;
  void (*start)(void* wide, int64_t n);
  /// Joins a line of n values to one wide value.
  void (*line)(void* wide, const void* x, int64_t n);
  /// Joins `rows` rows of n values, `step` apart, to n wide values.
  void (*rows)(void* wide, const void* x, int64_t rows, int64_t step, int64_t n);
  void (*join)(void* wide, const void* other, int64_t n);
  void (*finish)(void* out, const void* wide, int64_t n, double divisor);
};

template <class R, class T>
void line(typename R::Wide& wide, const T* x, int64_t n) {
  for (int64_t i = 0; i < n; i += kRun) {
    const T run = join_line(
        std::min(kRun, n - i), R::start, [](auto a, auto b) { return R::join(a, b); },
        [](auto v) { return v; }, x + i);
    wide = R::join(wide, typename R::Wide(run));
  }
}

template <class R, class T>
void rows(typename R::Wide* wide, const T* x, int64_t rows, int64_t step, int64_t n) {
  using Wide = typename R::Wide;
  for (; rows >= kRows; rows -= kRows, x += kRows * step) {
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) {
      const auto pair = [&](int64_t r) { return R::join(x[i + r * step], x[i + (r + 1) * step]); };
      const T all = R::join(R::join(pair(0), pair(2)), R::join(pair(4), pair(6)));
      wide[i] = R::join(wide[i], Wide(all));
    }
  }
  for (; rows > 0; --rows, x += step) {
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) wide[i] = R::join(wide[i], Wide(x[i]));
  }
}

template <template <class> class Reduction, class T>
const Loops loops_of = [] {
  using R = Reduction<T>;
  using Wide = typename R::Wide;
  return Loops{
      sizeof(Wide),
      [](void* wide, int64_t n) { std::fill_n(static_cast<Wide*>(wide), n, Wide(R::start)); },
      [](void* wide, const void* x, int64_t n) {
        line<R>(*static_cast<Wide*>(wide), static_cast<const T*>(x), n);
      },
      [](void* wide, const void* x, int64_t count, int64_t step, int64_t n) {
        rows<R>(static_cast<Wide*>(wide), static_cast<const T*>(x), count, step, n);
      },
      [](void* wide, const void* other, int64_t n) {
        auto* a = static_cast<Wide*>(wide);
        const auto* b = static_cast<const Wide*>(other);
        for (int64_t i = 0; i < n; ++i) a[i] = R::join(a[i], b[i]);
      },
      [](void* out, const void* wide, int64_t n, double divisor) {
        auto* y = static_cast<T*>(out);
        const auto* w = static_cast<const Wide*>(wide);
        for (int64_t i = 0; i < n; ++i) y[i] = quotient<T>(w[i], divisor);
      },
  };
}();

struct Plan {
  Lattice kept, reduced;
  int64_t outputs = 1, inputs = 1;  // of the result; of x for each of them
  /// Whether neighbouring results come from neighbouring values, and not the inputs of one result.
  bool by_rows() const {
    return kept.inner_size() > 1 && (reduced.sizes.empty() || kept.inner_step() < reduced.inner_step());
  }
  bool dense() const {
    const Lattice& inner = by_rows() ? kept : reduced;
    return inner.inner_size() == 1 || inner.inner_step() == 1;
  }
};

Plan plan(const Tensor& x, const Shape& dims) {
  Plan p;
  Shape reduced = dims;
  // The order inside a reduction is free: memory's own order merges best.
  std::sort(reduced.begin(), reduced.end(), [&](int64_t a, int64_t b) {
    return x.strides()[a] != x.strides()[b] ? x.strides()[a] > x.strides()[b] : a < b;
  });
  for (const int64_t d : reduced) {
    p.reduced.add(x.shape()[d], x.strides()[d]);
    p.inputs *= x.shape()[d];
  }
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (std::binary_search(dims.begin(), dims.end(), d)) continue;
    p.kept.add(x.shape()[d], x.strides()[d]);
    p.outputs *= x.shape()[d];
  }
  return p;
}

// The inputs of each result are cut into parts by the sizes alone, and what the parts give is joined in
// order: see Note [Same bits].
class Reduction {
 public:
  Reduction(const Loops& loops, const Plan& plan, const Tensor& x, const Tensor& y, double divisor)
      : loops_(loops),
        plan_(plan),
        x_(reinterpret_cast<const char*>(x.body().storage->data) + x.body().offset * size_of(x.dtype())),
        y_(reinterpret_cast<char*>(y.body().storage->data)),
        x_bytes_(size_of(x.dtype())),
        y_bytes_(size_of(y.dtype())),
        divisor_(divisor) {}

  void run() {
    if (plan_.outputs == 0) return;
    if (plan_.inputs == 0) {
      parts_ = 1;
      return parallel_for(plan_.outputs, kWidth,
                          [&](int64_t begin, int64_t end) { store(0, begin, end - begin, [](void*) {}); });
    }
    plan_.by_rows() ? run_rows() : run_lines();
    if (parts_ == 1) return;
    parallel_for(plan_.outputs, kWidth, [&](int64_t begin, int64_t end) {
      char* first = partial(0, begin);
      for (int64_t part = 1; part < parts_; ++part) loops_.join(first, partial(part, begin), end - begin);
      loops_.finish(y_ + begin * y_bytes_, first, end - begin, divisor_);
    });
  }

 private:
  // The inputs of one result are lines of memory, cut into pieces when long.
  void run_lines() {
    const Lattice& lines = plan_.reduced;
    const int64_t n = lines.inner_size();
    const int64_t pieces = (n + kBlock - 1) / kBlock;
    const int64_t items = plan_.inputs / n * pieces;
    const int64_t items_at_once = std::max<int64_t>(1, kBlock / n);
    cut((items + items_at_once - 1) / items_at_once);
    const int64_t width = plan_.kept.inner_size(), width_step = plan_.kept.inner_step();
    parallel_for(plan_.outputs * parts_, std::max<int64_t>(1, kBlock / plan_.inputs),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t task = begin; task < end; ++task) {
                     const int64_t result = task / parts_, part = task % parts_;
                     const int64_t base = plan_.kept.offset(result / width) + result % width * width_step;
                     store(part, result, 1, [&](void* wide) {
                       const int64_t last = std::min(items, (part + 1) * items_at_once);
                       for (int64_t item = part * items_at_once; item < last; ++item) {
                         const int64_t start = item % pieces * kBlock;
                         const int64_t offset = base + lines.offset(item / pieces) + start;
                         loops_.line(wide, x_ + offset * x_bytes_, std::min(kBlock, n - start));
                       }
                     });
                   }
                 });
  }

  // Neighbouring results stand side by side in memory: rows of them are joined one to the other.
  void run_rows() {
    const Lattice &kept = plan_.kept, &reduced = plan_.reduced;
    const int64_t n = kept.inner_size();
    const int64_t chunks = (n + kWidth - 1) / kWidth;
    const int64_t rows_in_run = reduced.inner_size(), step = reduced.inner_step();
    const int64_t rows_at_once = std::max<int64_t>(128, kBlock / std::min(n, kWidth));
    cut((plan_.inputs + rows_at_once - 1) / rows_at_once);
    const int64_t work = std::min(n, kWidth) * std::min(plan_.inputs, rows_at_once);
    parallel_for(plan_.outputs / n * chunks * parts_, std::max<int64_t>(1, kBlock / work),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t task = begin; task < end; ++task) {
                     const int64_t part = task % parts_, outer = task / parts_ / chunks;
                     const int64_t column = task / parts_ % chunks * kWidth;
                     const int64_t count = std::min(kWidth, n - column);
                     const int64_t base = kept.offset(outer) + column;
                     store(part, outer * n + column, count, [&](void* wide) {
                       const int64_t last = std::min(plan_.inputs, (part + 1) * rows_at_once);
                       for (int64_t row = part * rows_at_once; row < last;) {
                         const int64_t start = row % rows_in_run;
                         const int64_t rows = std::min(last - row, rows_in_run - start);
                         const int64_t offset = base + reduced.offset(row / rows_in_run) + start * step;
                         loops_.rows(wide, x_ + offset * x_bytes_, rows, step, count);
                         row += rows;
                       }
                     });
                   }
                 });
  }

  void cut(int64_t parts) {
    parts_ = parts;
    if (parts > 1) partial_ = Tensor::empty({parts * plan_.outputs, loops_.wide_bytes}, boolean);
  }

  char* partial(int64_t part, int64_t result) {
    return reinterpret_cast<char*>(partial_.body().storage->data) +
           (part * plan_.outputs + result) * loops_.wide_bytes;
  }

  template <class Fill>
  void store(int64_t part, int64_t result, int64_t count, const Fill& fill) {
    alignas(64) char own[kWidth * sizeof(int64_t)];
    void* wide = parts_ == 1 ? own : partial(part, result);
    loops_.start(wide, count);
    fill(wide);
    if (parts_ == 1) loops_.finish(y_ + result * y_bytes_, wide, count, divisor_);
  }

  const Loops& loops_;
  const Plan& plan_;
  const char* x_;
  char* y_;
  const int64_t x_bytes_, y_bytes_;
  const double divisor_;
  int64_t parts_ = 1;
  Tensor partial_;  // [parts, outputs] wide values
};

Tensor reduce(const Loops& loops, Tensor x, const Shape& dims, bool keepdim, double divisor = 1) {
  Tensor y = Tensor::empty(reduced_shape(x.shape(), dims, keepdim), x.dtype());
  Plan in = plan(x, dims);
  if (!in.dense()) in = plan(x = contiguous(x), dims);
  Reduction(loops, in, x, y, divisor).run();
  return y;
}

// Sums and products take integers for unsigned ones (Whole), which wrap around where signed ones are
// undefined.
template <template <class> class R, class Whole = int64_t>
const Loops& number_loops(DType dtype) {
  if (dtype == float32) return loops_of<R, float>;
  return dtype == float64 ? loops_of<R, double> : loops_of<R, Whole>;
}

Tensor counted(const Tensor& x) { return x.dtype() == boolean ? cast(x, int64) : x; }

}  // namespace

Tensor sum(const Tensor& x, const Shape& dims, bool keepdim) {
  const Tensor numbers = counted(x);
  return reduce(number_loops<Sum, uint64_t>(numbers.dtype()), numbers, dims, keepdim);
}

Tensor mean(const Tensor& x, const Shape& dims, bool keepdim) {
  check(is_floating(x.dtype()), "mean: expected a floating tensor, got ", x.dtype());
  double count = 1;
  for (const int64_t d : dims) count *= static_cast<double>(x.shape()[d]);
  return reduce(number_loops<Sum, uint64_t>(x.dtype()), x, dims, keepdim, count);
}

Tensor amax(const Tensor& x, const Shape& dims, bool keepdim) {
  return reduce(x.dtype() == boolean ? loops_of<Maximum, Bool> : number_loops<Maximum>(x.dtype()), x, dims,
                keepdim);
}

Tensor amin(const Tensor& x, const Shape& dims, bool keepdim) {
  return reduce(x.dtype() == boolean ? loops_of<Minimum, Bool> : number_loops<Minimum>(x.dtype()), x, dims,
                keepdim);
}

Tensor logsumexp(const Tensor& x, const Shape& dims, bool keepdim) {
  Tensor largest = amax(x, dims, true);
  largest = where(isfinite(largest), largest, full({}, 0, x.dtype()));
  const Tensor y = log(sum(exp(sub(x, largest)), dims, keepdim));
  return add(y, largest.view_as(y.shape(), y.strides(), 0));
}

Tensor var(const Tensor& x, const Shape& dims, double divisor, bool keepdim) {
  const Tensor squares = square(sub(x, mean(x, dims, true)));
  return reduce(number_loops<Sum, uint64_t>(x.dtype()), squares, dims, keepdim, divisor);
}

namespace {

template <template <class> class R>
Extreme extreme(const Tensor& strided, int64_t dim, bool keepdim) {
  const Tensor x = contiguous(strided);
  const Shape shape = reduced_shape(x.shape(), {dim}, keepdim);
  Extreme y{Tensor::empty(shape, x.dtype()), Tensor::empty(shape, int64)};
  const Lines lines(x.shape(), dim);
  visit_dtype(x.dtype(), [&]<class T>(Type<T>) {
    T* values = y.values.mutable_data<T>();
    int64_t* indices = y.indices.mutable_data<int64_t>();
    lines.each([&, in = x.data<T>()](int64_t first, int64_t line, int64_t width) {
      std::copy_n(in + first, width, values + line);
      std::fill_n(indices + line, width, 0);
      for (int64_t i = 1; i < lines.n; ++i)
        for (int64_t l = 0; l < width; ++l) {
          const T best = values[line + l], next = in[first + i * lines.inner + l];
          const bool better = R<T>::join(best, next) != best && best == best;
          values[line + l] = better ? next : best;
          indices[line + l] = better ? i : indices[line + l];
        }
    });
  });
  return y;
}

}  // namespace

Extreme max(const Tensor& x, int64_t dim, bool keepdim) { return extreme<Maximum>(x, dim, keepdim); }
Extreme min(const Tensor& x, int64_t dim, bool keepdim) { return extreme<Minimum>(x, dim, keepdim); }

Tensor cumsum(const Tensor& strided, int64_t dim, bool reverse) {
  const Tensor x = contiguous(counted(strided));
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const Lines lines(x.shape(), dim);
  visit_numbers(x.dtype(), [&]<class T>(Type<T>) {
    using Wide = typename Sum<std::conditional_t<std::is_integral_v<T>, uint64_t, T>>::Wide;
    lines.each([&, in = x.data<T>(), out = y.mutable_data<T>()](int64_t first, int64_t, int64_t width) {
      Wide total[kWidth];
      std::fill_n(total, width, Wide(0));
      for (int64_t i = 0; i < lines.n; ++i) {
        const int64_t at = first + (reverse ? lines.n - 1 - i : i) * lines.inner;
        for (int64_t l = 0; l < width; ++l)
          out[at + l] = static_cast<T>(total[l] += static_cast<Wide>(in[at + l]));
      }
    });
  });
  return y;
}

}  // namespace heed::kernel
