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
        std::min(kRun, n - i), R::start, [](auto a, auto b) { return R::join(a, b); }, itself, x + i);
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

// The dimensions of x that are kept, and those that are reduced over.
struct Plan {
  Lattice kept, reduced;
  int64_t outputs = 1, inputs = 1;  // of the result; of x for each of them

  Plan(const Tensor& x, const Shape& dims) {
    Shape by_step = dims;  // the order inside a reduction is free: memory's own order merges best
    std::sort(by_step.begin(), by_step.end(), [&](int64_t a, int64_t b) {
      return x.strides()[a] != x.strides()[b] ? x.strides()[a] > x.strides()[b] : a < b;
    });
    for (const int64_t d : by_step) {
      reduced.add(x.shape()[d], x.strides()[d]);
      inputs *= x.shape()[d];
    }
    for (int64_t d = 0; d < x.dim(); ++d) {
      if (std::binary_search(dims.begin(), dims.end(), d)) continue;
      kept.add(x.shape()[d], x.strides()[d]);
      outputs *= x.shape()[d];
    }
  }
  /// Whether neighbouring results come from neighbouring values, and not the inputs of one result.
  bool by_rows() const {
    return kept.inner_size() > 1 && (reduced.sizes.empty() || kept.inner_step() < reduced.inner_step());
  }
  bool dense() const {
    const Lattice& inner = by_rows() ? kept : reduced;
    return inner.inner_size() == 1 || inner.inner_step() == 1;
  }
};

// How the inputs of each result are cut into parts, by the sizes alone: into a number of rows; or into as
// many whole lines as make a block, while a line longer than that is cut into blocks.
//
//   |   length   |   length   | len|          rows, or lines: one part a period
//   |length|length|le|length|length|le|       long lines of size period: parts_in_period = 3
//   |<--- period --->|
struct Parts {
  int64_t inputs, length, period, parts_in_period = 1;

  Parts(const Plan& plan, int64_t width) : inputs(plan.inputs) {
    const int64_t n = std::max<int64_t>(1, plan.reduced.inner_size());  // of a line
    length = period = plan.by_rows() ? std::max<int64_t>(128, rows_per_block(width)) : n * rows_per_block(n);
    if (plan.by_rows() || n <= kBlock) return;
    length = kBlock;
    parts_in_period = (n + kBlock - 1) / kBlock;
  }
  int64_t count() const { return std::max<int64_t>(1, (inputs + period - 1) / period * parts_in_period); }
  int64_t begin(int64_t part) const {
    return part / parts_in_period * period + part % parts_in_period * length;
  }
  int64_t end(int64_t part) const {
    return std::min({begin(part) + length, (part / parts_in_period + 1) * period, inputs});
  }
};

// A task joins one part of the inputs of `width` neighbouring results, fewer at the end of a row, or of one
// result. When there are several parts, what they give is joined in order: see Note [Same bits] in
// tensor/parallel.h.
class Reduction {
 public:
  Reduction(const Loops& loops, const Plan& plan, const Tensor& x, const Tensor& y, double divisor)
      : loops_(loops),
        plan_(plan),
        x_(detail::first_byte(x)),
        y_(detail::first_byte(y)),
        x_bytes_(size_of(x.dtype())),
        y_bytes_(size_of(y.dtype())),
        divisor_(divisor),
        width_(plan.by_rows() ? std::min(kWidth, plan.kept.inner_size()) : 1),
        parts_(plan, width_),
        count_(parts_.count()) {}

  void run() {
    if (plan_.outputs == 0) return;
    if (count_ > 1) partial_ = Tensor::empty({count_ * plan_.outputs, loops_.wide_bytes}, boolean);
    const int64_t n = plan_.kept.inner_size(), chunks = (n + width_ - 1) / width_;
    each_row(plan_.outputs / n * chunks * count_, width_ * std::min(plan_.inputs, parts_.length),
             [&](int64_t task) {
               const int64_t chunk = task / count_, column = chunk % chunks * width_;
               join_part(task % count_, chunk / chunks * n + column, std::min(width_, n - column));
             });
    if (count_ == 1) return;
    parallel_for(plan_.outputs, kWidth, [&](int64_t begin, int64_t end) {
      char* first = partial(0, begin);
      for (int64_t part = 1; part < count_; ++part) loops_.join(first, partial(part, begin), end - begin);
      finish(begin, first, end - begin);
    });
  }

 private:
  // One part of the inputs of the results `first` to `first + n`.
  void join_part(int64_t part, int64_t first, int64_t n) {
    alignas(64) char own[kWidth * sizeof(int64_t)];
    void* wide = count_ == 1 ? own : partial(part, first);
    loops_.start(wide, n);
    const int64_t base = plan_.kept.at(first), step = plan_.reduced.inner_step();
    plan_.reduced.each_stretch(parts_.begin(part), parts_.end(part), [&](int64_t offset, int64_t inputs) {
      const char* x = x_ + (base + offset) * x_bytes_;
      if (plan_.by_rows())
        loops_.rows(wide, x, inputs, step, n);
      else
        loops_.line(wide, x, inputs);
    });
    if (count_ == 1) finish(first, wide, n);
  }

  void finish(int64_t first, const void* wide, int64_t n) {
    loops_.finish(y_ + first * y_bytes_, wide, n, divisor_);
  }

  char* partial(int64_t part, int64_t result) {
    return detail::first_byte(partial_) + (part * plan_.outputs + result) * loops_.wide_bytes;
  }

  const Loops& loops_;
  const Plan& plan_;
  const char* x_;
  char* y_;
  const int64_t x_bytes_, y_bytes_;
  const double divisor_;
  const int64_t width_;
  const Parts parts_;
  const int64_t count_;
  Tensor partial_;  // [count, outputs] wide values
};

Tensor reduce(const Loops& loops, Tensor x, const Shape& dims, bool keepdim, double divisor = 1) {
  const Tensor y = Tensor::empty(reduced_shape(x.shape(), dims, keepdim), x.dtype());
  Plan plan(x, dims);
  if (!plan.dense()) plan = Plan(x = contiguous(x), dims);
  Reduction(loops, plan, x, y, divisor).run();
  return y;
}

// Sums over one dtype.
const Loops& sums(DType dtype) {
  if (dtype == float32) return loops_of<Sum, float>;
  return dtype == float64 ? loops_of<Sum, double> : loops_of<Sum, Wrapping<int64_t>>;
}

template <template <class> class R>
Tensor most(const Tensor& x, const Shape& dims, bool keepdim) {
  const Loops& loops = visit_dtype(x.dtype(), []<class T>(Type<T>) -> const Loops& {
    return loops_of<R, std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>>;  // bools, in packs
  });
  return reduce(loops, x, dims, keepdim);
}

Tensor counted(const Tensor& x) { return x.dtype() == boolean ? cast(x, int64) : x; }

}  // namespace

Tensor sum(const Tensor& x, const Shape& dims, bool keepdim) {
  const Tensor numbers = counted(x);
  return reduce(sums(numbers.dtype()), numbers, dims, keepdim);
}

Tensor mean(const Tensor& x, const Shape& dims, bool keepdim) {
  check(is_floating(x.dtype()), "expected a floating tensor, got ", x.dtype());
  double count = 1;
  for (const int64_t d : dims) count *= static_cast<double>(x.shape()[d]);
  return reduce(sums(x.dtype()), x, dims, keepdim, count);
}

Tensor amax(const Tensor& x, const Shape& dims, bool keepdim) { return most<Maximum>(x, dims, keepdim); }
Tensor amin(const Tensor& x, const Shape& dims, bool keepdim) { return most<Minimum>(x, dims, keepdim); }

Tensor logsumexp(const Tensor& x, const Shape& dims, bool keepdim) {
  Tensor largest = amax(x, dims, true);
  largest = where(isfinite(largest), largest, full({}, 0, x.dtype()));
  const Tensor y = log(sum(exp(sub(x, largest)), dims, keepdim));
  return add(y, largest.view_as(y.shape(), y.strides(), 0));
}

Tensor var(const Tensor& x, const Shape& dims, double divisor, bool keepdim) {
  const Tensor squares = square(sub(x, mean(x, dims, true)));
  return reduce(sums(x.dtype()), squares, dims, keepdim, divisor);
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
    using Wide = typename Sum<Wrapping<T>>::Wide;
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
