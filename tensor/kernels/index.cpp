#include "tensor/kernels/index.h"

#include <bit>
#include <numeric>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/reference.h"

namespace heed::kernel {
namespace {

[[noreturn, gnu::cold, gnu::noinline]] void out_of_range(int64_t position, int64_t dim, const Tensor& x) {
  fail("position ", position, " is out of range for dimension ", dim, " of x ", x.shape(), ": use 0 to ",
       x.shape()[dim] - 1);
}

// The position along dim of x, which has `size` elements there. Throws if it is out of range.
inline int64_t checked(int64_t position, int64_t size, int64_t dim, const Tensor& x) {
  if (static_cast<uint64_t>(position) >= static_cast<uint64_t>(size)) [[unlikely]]
    out_of_range(position, dim, x);
  return position;
}

// index [m] as an index of this shape: the same positions for every line along dim.
Tensor repeated(const Tensor& index, const Shape& shape, int64_t dim) {
  Strides strides = Shape::filled(shape.dim(), 0);
  strides[dim] = index.strides().empty() ? 0 : index.strides()[0];
  return TensorImpl::view(index, shape, strides);
}

// Calls f(element of x, element of `values`) for each position in the index, where T and Value are the types
// of the elements. `dim` is the dimension of x that the positions count, and each thread runs through whole
// lines along the dimension `along`, in order.
template <class T, class Value, class F>
void each_selected(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& values, int64_t along,
                   const F& f) {
  const int64_t n = index.shape()[along], size = x.shape()[dim], dim_step = x.strides()[dim];
  const Strides others = x.strides().with(dim, 0);
  const int64_t step = others[along], index_step = index.strides()[along];
  const int64_t value_step = values.strides()[along];
  const CollapsedDims x_lines(index.shape(), others, along);
  const CollapsedDims index_lines(index.shape(), index.strides(), along);
  const CollapsedDims value_lines(index.shape(), values.strides(), along);
  const auto* positions = index.data<int64_t>();
  auto* first = detail::first_of<T>(x);
  auto* first_value = detail::first_of<Value>(values);
  each_row(n == 0 ? 0 : index.numel() / n, n, [&](int64_t line) {
    T* x_line = first + x_lines.at(line);
    Value* value_line = first_value + value_lines.at(line);
    const int64_t* index_line = positions + index_lines.at(line);
    for (int64_t i = 0; i < n; ++i)
      f(x_line[i * step + checked(index_line[i * index_step], size, dim, x) * dim_step],
        value_line[i * value_step]);
  });
}

}  // namespace

// Lines of the last dimension are closest in memory, whatever dim is.
Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) {
  Tensor y = Tensor::empty(index.shape(), x.dtype());
  visit_dtype(x.dtype(), [&]<class T>(Type<T>) {
    each_selected<const T, T>(x, dim, index, y, index.dim() - 1, [](const T& from, T& to) { to = from; });
  });
  return y;
}

// Lines along dim do not share elements, and one thread adds up a whole line in order.
void scatter_add_into(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& src) {
  wrapping(out.dtype(), [&]<class T>(Type<T>) {
    each_selected<T, const T>(out, dim, index, src, dim, [](T& sum, T term) { sum += term; });
  });
}

void scatter_into(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& src) {
  visit_dtype(out.dtype(), [&]<class T>(Type<T>) {
    each_selected<T, const T>(out, dim, index, src, dim, [](T& to, const T& from) { to = from; });
  });
}

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) {
  const int64_t m = index.numel();
  const OuterInner around(x.shape(), dim);
  const int64_t outer = around.outer, n = around.n, inner = around.inner;
  const Shape shape = x.shape().with(dim, m);
  if (numel(shape) == 0)  // no element is read, but the positions must be valid all the same
    index.for_each([&](auto position) { checked(static_cast<int64_t>(position), n, dim, x); });
  if (reference_mode() || !x.is_contiguous() || inner < 8) return gather(x, dim, repeated(index, shape, dim));
  Tensor y = Tensor::empty(shape, x.dtype());
  const Tensor packed = contiguous(index);
  const auto* positions = packed.data<int64_t>();
  visit_dtype(x.dtype(), [&]<class T>(Type<T>) {
    const T* from = x.data<T>();
    T* out = y.mutable_data<T>();
    each_row(outer * m, inner, [&](int64_t row) {
      const int64_t position = checked(positions[row % m], n, dim, x);
      std::copy_n(from + (row / m * n + position) * inner, inner, out + row * inner);
    });
  });
  return y;
}

// The rows of `out` are distributed among parts. Each part reads all positions and adds to its own rows.
void index_add_into(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& src) {
  if (reference_mode()) return scatter_add_into(out, dim, repeated(index, src.shape(), dim), src);
  const int64_t m = index.numel();
  const OuterInner around(out.shape(), dim);
  const int64_t outer = around.outer, n = around.n, inner = around.inner;
  const auto parts = static_cast<int64_t>(
      std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(m * inner / kBlock, 1, 16))));
  const Tensor packed = contiguous(index), rows = contiguous(src);
  const auto* positions = packed.data<int64_t>();
  wrapping(out.dtype(), [&]<class T>(Type<T>) {
    const T* from = detail::first_of<T>(rows);
    T* to = detail::first_of<T>(out);
    each_row(outer * parts, m * inner / parts, [&](int64_t task) {
      const int64_t block = task / parts, part = task % parts;
      for (int64_t i = 0; i < m; ++i) {
        const int64_t position = checked(positions[i], n, dim, out);
        if ((position & (parts - 1)) != part) continue;
        T* sum = to + (block * n + position) * inner;
        const T* row = from + (block * m + i) * inner;
        HEED_VECTORIZE
        for (int64_t k = 0; k < inner; ++k) sum[k] += row[k];
      }
    });
  });
}

Tensor positions_of_true(const Tensor& mask) {
  const Tensor packed = contiguous(mask);
  const bool* set = packed.data<bool>();
  const int64_t n = packed.numel();
  Tensor y = Tensor::empty({std::count(set, set + n, true)}, int64);
  auto* out = y.mutable_data<int64_t>();
  for (int64_t i = 0; i < n; ++i)
    if (set[i]) *out++ = i;
  return y;
}

Tensor order(const Tensor& x, int64_t dim, int64_t k, bool descending) {
  const Tensor keys = contiguous(last_swapped_with(x, dim));
  const int64_t n = x.shape()[dim];
  Tensor y = Tensor::empty(keys.shape().with(keys.dim() - 1, k), int64);
  auto* out = y.mutable_data<int64_t>();
  visit_dtype(x.dtype(), [&]<class T>(Type<T>) {
    const T* all = keys.data<T>();
    const auto less = [](T a, T b) { return a < b || (b != b && a == a); };
    parallel_for(n == 0 ? 0 : keys.numel() / n, rows_per_block(16 * n), [&](int64_t begin, int64_t end) {
      std::vector<int64_t> places(static_cast<size_t>(n));
      for (int64_t line = begin; line < end; ++line) {
        const T* key = all + line * n;
        const auto before = [&](int64_t a, int64_t b) {
          const T u = descending ? key[b] : key[a], v = descending ? key[a] : key[b];
          return less(u, v) || (!less(v, u) && a < b);
        };
        std::iota(places.begin(), places.end(), int64_t{0});
        k < n ? std::partial_sort(places.begin(), places.begin() + k, places.end(), before)
              : std::sort(places.begin(), places.end(), before);
        std::copy_n(places.begin(), k, out + line * k);
      }
    });
  });
  return contiguous(last_swapped_with(y, dim));
}

}  // namespace heed::kernel
