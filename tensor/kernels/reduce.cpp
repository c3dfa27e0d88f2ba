#include "tensor/kernels/reduce.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"

namespace heed::kernel {
namespace {

// Bools as bytes, so that vectors of them exist.
template <class T>
using Packable = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

// A reduction joins values, or vectors of them, by an associative operation. It reads elements of type T as
// Value. Short runs are joined in Value and their results in Wide, so that a float32 sum over millions of
// elements is as accurate as its dtype.

template <class T>
struct Sum {
  using Value = Wrapping<Packable<T>>;
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
  static constexpr T start = 0;
  static constexpr auto join = [](auto a, auto b) { return a + b; };
};

template <class T, bool largest>
struct Extremum {
  using Value = Packable<T>;
  using Wide = T;
  using Number = std::conditional_t<sizeof(T) == 1, bool, T>;
  static constexpr T start = largest ? least<Number> : most<Number>;
  static constexpr auto join = [](auto a, auto b) { return ((largest ? a > b : a < b) | (a != a)) ? a : b; };
};

constexpr int64_t kRowsAtOnce = 8;  // rows that are joined before they are widened

// wide = wide joined with a line of n values
template <class R, class T>
void join_values(typename R::Wide& wide, const T* x, int64_t n) {
  for (int64_t i = 0; i < n; i += kRun) {
    const T run = join_line(std::min(kRun, n - i), R::start, R::join, std::identity(), x + i);
    wide = R::join(wide, typename R::Wide(run));
  }
}

// wide_i = wide_i joined with column i of rows of n values, `step` apart
template <class R, class T>
void join_rows(typename R::Wide* wide, const T* x, int64_t rows, int64_t step, int64_t n) {
  using Wide = typename R::Wide;
  for (; rows >= kRowsAtOnce; rows -= kRowsAtOnce, x += kRowsAtOnce * step) {
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

// How x is read: the dimensions that are kept, and those that are reduced.
struct Plan {
  CollapsedDims kept, reduced;
  int64_t outputs, inputs;  // elements of the result; elements of x for each of them

  Plan(const Tensor& x, const Shape& dims) {
    Shape by_step = dims;  // the order within a reduction is free: the order of memory merges best
    std::ranges::sort(by_step, {}, [&](int64_t d) { return std::pair(-x.strides()[d], d); });
    for (const int64_t d : by_step) reduced.add(x.shape()[d], x.strides()[d]);
    for (int64_t d = 0; d < x.dim(); ++d)
      if (!std::binary_search(dims.begin(), dims.end(), d)) kept.add(x.shape()[d], x.strides()[d]);
    outputs = numel(kept.sizes);
    inputs = x.numel() / std::max<int64_t>(1, outputs);
  }
  // Whether adjacent elements of x belong to adjacent results, and not to one result.
  bool by_rows() const {
    return kept.inner_size() > 1 && (reduced.sizes.empty() || kept.inner_step() < reduced.inner_step());
  }
  bool dense() const {
    const CollapsedDims& inner = by_rows() ? kept : reduced;
    return inner.inner_size() == 1 || inner.inner_step() == 1;
  }
  // The inputs of each result are cut into parts of this length: rows of `width` values, or as many whole
  // lines as fill a block. A line that is longer than a block is cut into blocks.
  int64_t part_length(int64_t width) const {
    if (by_rows()) return std::max<int64_t>(128, rows_per_block(width));
    const int64_t n = std::max<int64_t>(1, reduced.inner_size());
    return std::min(n, kBlock) * rows_per_block(n);
  }
};

// A task joins one part of the inputs of one result, or of `width` adjacent results (fewer at the end of a
// row). The results of several parts are joined in order: see Note [Same bits] in tensor/parallel.h.
template <class R, class T>
struct Reduction {
  using Wide = typename R::Wide;

  const Plan& plan;
  const T* x;
  T* y;
  const double divisor;
  const int64_t width = plan.by_rows() ? std::min(kWidth, plan.kept.inner_size()) : 1;
  const int64_t length = plan.part_length(width);
  const int64_t parts = std::max<int64_t>(1, ceil_div(plan.inputs, length));
  // [parts, outputs] wide values, if there are several parts
  const Tensor partials = parts > 1 ? Tensor::empty({parts * plan.outputs, sizeof(Wide)}, boolean) : Tensor();

  void run() const {
    if (plan.outputs == 0) return;
    const int64_t n = plan.kept.inner_size(), chunks = ceil_div(n, width);
    const int64_t tasks = plan.outputs / n * chunks * parts;
    each_row(tasks, width * std::min(plan.inputs, length), [&](int64_t task) {
      const int64_t chunk = task / parts, column = chunk % chunks * width;
      join_part(task % parts, chunk / chunks * n + column, std::min(width, n - column));
    });
    if (parts == 1) return;
    parallel_for(plan.outputs, kWidth, [&](int64_t begin, int64_t end) {
      Wide* all = partial(0, begin);
      for (int64_t part = 1; part < parts; ++part)
        for (int64_t i = 0; i < end - begin; ++i) all[i] = R::join(all[i], partial(part, begin)[i]);
      finish(begin, all, end - begin);
    });
  }

  // One part of the inputs of the results [first, first + n).
  void join_part(int64_t part, int64_t first, int64_t n) const {
    alignas(64) Wide own[kWidth];
    Wide* wide = parts == 1 ? own : partial(part, first);
    std::fill_n(wide, n, Wide(R::start));
    const T* from = x + plan.kept.at(first);
    const int64_t size = plan.reduced.inner_size(), step = plan.reduced.inner_step();
    const int64_t end = std::min((part + 1) * length, plan.inputs);
    for (int64_t i = part * length, inputs; i < end; i += inputs) {  // the rest of an innermost row
      const T* values = from + plan.reduced.row_at(i / size) + i % size * step;
      inputs = std::min(end - i, size - i % size);
      plan.by_rows() ? join_rows<R>(wide, values, inputs, step, n) : join_values<R>(*wide, values, inputs);
    }
    if (parts == 1) finish(first, wide, n);
  }

  // Only means and variances, which are of floats, have a divisor other than 1.
  void finish(int64_t first, const Wide* wide, int64_t n) const {
    for (int64_t i = 0; i < n; ++i)
      y[first + i] = static_cast<T>(divisor == 1 ? wide[i] : wide[i] / static_cast<Wide>(divisor));
  }

  Wide* partial(int64_t part, int64_t result) const {
    return reinterpret_cast<Wide*>(detail::first_of<bool>(partials)) + part * plan.outputs + result;
  }
};

template <template <class, bool...> class R, bool... options>
Tensor reduce(Tensor x, const Shape& dims, bool keepdim, double divisor = 1) {
  Tensor y = Tensor::empty(reduced_shape(x.shape(), dims, keepdim), x.dtype());
  Plan plan(x, dims);
  if (!plan.dense()) plan = Plan(x = contiguous(x), dims);
  visit_dtype(x.dtype(), [&]<class T>(Type<T>) {
    using Value = typename R<T, options...>::Value;
    const Value* from = detail::first_of<const Value>(x);
    Reduction<R<Value, options...>, Value>{plan, from, detail::first_of<Value>(y), divisor}.run();
  });
  return y;
}

template <bool largest>
Tensor extremum(const Tensor& x, const Shape& dims, bool keepdim) {
  if (reference_mode()) return plain::extremum(x, dims, keepdim, largest);
  return reduce<Extremum, largest>(x, dims, keepdim);
}

Tensor counted(const Tensor& x) { return x.dtype() == boolean ? cast(x, int64) : x; }

// The largest (smallest) of each line, then its first position. NaN counts as the largest and smallest.
MaxResult max_with_index(const Tensor& strided, int64_t dim, bool keepdim, const auto& reduce) {
  const Tensor x = contiguous(strided);
  const Tensor values = reduce(x, line_dims(x, dim), keepdim);
  const Tensor indices = Tensor::empty(values.shape(), int64);
  const OuterInner lines(x.shape(), dim);
  visit_dtype(x.dtype(), [&]<class T>(Type<T>) {
    const T* in = x.data<T>();
    T* best = values.mutable_data<T>();
    int64_t* index = indices.mutable_data<int64_t>();
    lines.each([=, n = lines.n, inner = lines.inner](int64_t first, int64_t line, int64_t width) {
      const auto found = [&](int64_t i, int64_t l) {
        const T value = in[first + i * inner + l];
        return value == best[line + l] || value != value;
      };
      int64_t* at = index + line;
      std::fill_n(at, width, 0);
      if (width == 1)
        while (!found(*at, 0)) ++*at;
      else
        for (int64_t i = n; i-- > 0;)
          for (int64_t l = 0; l < width; ++l) at[l] = found(i, l) ? i : at[l];
      for (int64_t l = 0; l < width; ++l) best[line + l] = in[first + at[l] * inner + l];
    });
  });
  return {values, indices};
}

}  // namespace

Tensor sum(const Tensor& x, const Shape& dims, bool keepdim, double divisor) {
  if (reference_mode()) return plain::sum(counted(x), dims, keepdim, divisor);
  return reduce<Sum>(counted(x), dims, keepdim, divisor);
}

Tensor mean(const Tensor& x, const Shape& dims, bool keepdim) {
  check(is_floating(x.dtype()), "expected a floating tensor, got ", x.dtype());
  double count = 1;
  for (const int64_t d : dims) count *= static_cast<double>(x.shape()[d]);
  return sum(x, dims, keepdim, count);
}

Tensor var(const Tensor& x, const Shape& dims, double divisor, bool keepdim) {
  const Tensor deviation = sub(x, mean(x, dims, true));
  return sum(mul(deviation, deviation), dims, keepdim, divisor);
}

Tensor amax(const Tensor& x, const Shape& dims, bool keepdim) { return extremum<true>(x, dims, keepdim); }
Tensor amin(const Tensor& x, const Shape& dims, bool keepdim) { return extremum<false>(x, dims, keepdim); }
MaxResult max(const Tensor& x, int64_t dim, bool keepdim) { return max_with_index(x, dim, keepdim, amax); }
MaxResult min(const Tensor& x, int64_t dim, bool keepdim) { return max_with_index(x, dim, keepdim, amin); }

Tensor logsumexp(const Tensor& x, const Shape& dims, bool keepdim) {
  const Tensor largest = map(amax(x, dims, true), [](auto v) { return v - v == 0 ? v : 0; });
  const Tensor parts = zip(x, largest, [](auto v, auto shift) { return math::exp(v - shift); });
  const Tensor y = map(sum(parts, dims, keepdim), [](auto v) { return math::log(v); });
  return add(y, TensorImpl::view(largest, y.shape(), y.strides()));
}

Tensor cumsum(const Tensor& strided, int64_t dim, bool reverse) {
  const Tensor x = contiguous(counted(strided));
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const OuterInner lines(x.shape(), dim);
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

int64_t first_anomaly(const Tensor& x, bool infinity) {
  if (!is_floating(x.dtype())) return -1;
  const Tensor dense = contiguous(x);
  std::atomic<int64_t> first = x.numel();
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    // Without its sign, an infinity has larger bits than any number, and NaN larger ones still.
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const Bits most = std::bit_cast<Bits>(std::numeric_limits<T>::infinity()) - infinity;
    const T* values = dense.data<T>();
    const auto wrong = [=](int64_t i) { return std::bit_cast<Bits>(std::abs(values[i])) > most; };
    parallel_for(x.numel(), 1 << 16, [&](int64_t begin, int64_t end) {
      bool any = false;
      for (int64_t i = begin; i < end; ++i) any |= wrong(i);
      if (!any) return;
      while (!wrong(begin)) ++begin;
      for (int64_t other = first; begin < other && !first.compare_exchange_weak(other, begin);) {
      }
    });
  });
  return first < x.numel() ? first.load() : -1;
}

}  // namespace heed::kernel
