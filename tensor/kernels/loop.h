#pragma once

#include <array>

#include "tensor/kernels/level.h"
#include "tensor/tensor.h"

#if defined(__clang__)
#define HEED_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#define HEED_UNROLL _Pragma("clang loop unroll(full)")
#else
#define HEED_VECTORIZE _Pragma("GCC ivdep")
#define HEED_UNROLL _Pragma("GCC unroll 16")
#endif

/// Loops over the elements of tensors of any strides.
namespace heed::kernel {

/// Elements in a thread's unit of work: enough to outweigh the cost of waking the thread.
inline constexpr int64_t kBlock = 32768;

/// n / size, rounded up.
constexpr int64_t ceil_div(int64_t n, int64_t size) { return (n + size - 1) / size; }

/// The type in which elements of type T are added and multiplied. Integers use the unsigned type, which wraps
/// around where overflow of the signed one is undefined.
template <class T>
using Wrapping = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;

/// A strided matrix: element (i, j) is data[i * row_step + j * col_step].
template <class T>
struct Matrix {
  T* data = nullptr;
  int64_t row_step = 0, col_step = 0;

  T* at(int64_t i, int64_t j) const { return data + i * row_step + j * col_step; }
  /// The part from row i and column j on.
  Matrix block(int64_t i, int64_t j) const { return {at(i, j), row_step, col_step}; }
  Matrix transposed() const { return {data, col_step, row_step}; }
  operator Matrix<const T>() const { return {data, row_step, col_step}; }
};

/// The strides of x broadcast to the shape: 0 along the dimensions in which elements are repeated.
inline Strides broadcast_strides(const Tensor& x, const Shape& shape) {
  Strides strides = Shape::filled(shape.dim(), 0);
  const int64_t lead = shape.dim() - x.dim();
  for (int64_t d = lead; d < shape.dim(); ++d)
    if (x.shape()[d - lead] == shape[d]) strides[d] = x.strides()[d - lead];
  return strides;
}

/// Dimensions of a tensor with their strides. Dimensions of size 1 are left out and adjacent ones are merged
/// where memory allows, so that few remain.
struct CollapsedDims {
  Shape sizes;
  Strides steps;

  CollapsedDims() = default;
  /// All dimensions, or all but one: at(i) is then the start of line i along that one.
  CollapsedDims(const Shape& shape, const Strides& strides, int64_t left_out = -1) {
    for (int64_t d = 0; d < shape.dim(); ++d)
      if (d != left_out) add(shape[d], strides[d]);
  }

  void add(int64_t size, int64_t step) {
    if (size == 1) return;
    const int64_t last = sizes.dim() - 1;
    if (last >= 0 && steps[last] == size * step) {
      sizes[last] *= size;
      steps[last] = step;
    } else {
      sizes.push_back(size);
      steps.push_back(step);
    }
  }
  int64_t inner_size() const { return sizes.empty() ? 1 : sizes.back(); }
  int64_t inner_step() const { return steps.empty() ? 0 : steps.back(); }
  /// The offset of element `index`, counted in row-major order.
  int64_t at(int64_t index) const { return at(index, sizes.dim()); }
  /// The offset of row `index` along the innermost dimension.
  int64_t row_at(int64_t index) const { return at(index, sizes.dim() - 1); }

 private:
  int64_t at(int64_t index, int64_t dims) const {
    if (dims <= 0) return 0;
    int64_t offset = 0, d = dims - 1;
    for (; d > 0; index /= sizes[d--]) offset += index % sizes[d] * steps[d];
    return offset + index * steps[0];
  }
};

namespace detail {

/// Computes n adjacent elements of the result from n adjacent elements of every operand: an instance of
/// loop().
using Loop = void (*)(const void* f, int64_t n, void* out, const void* const* in);

/// A contiguous copy of x, made tile by tile, if x is large and its elements are closest in memory along
/// another dimension than the last, as in a transposed matrix. Otherwise an undefined tensor.
Tensor transposed_copy(const Tensor& x);

/// Runs the loop over all elements of the result; the operands broadcast to its shape. Strided operands are
/// copied to a buffer, a few hundred elements at a time, so that each function needs one loop only, which the
/// compiler vectorizes.
void run_loop(const Tensor& out, std::initializer_list<const Tensor*> in, Loop loop, const void* f);

/// The first element, for reading and writing. Does not increment the version.
template <class T>
T* first_of(const Tensor& x) {
  const TensorImpl& body = TensorImpl::of(x);
  return reinterpret_cast<T*>(body.storage->data) + body.offset;
}

template <class F, class Result, class... Operand>
void loop(const void* f, int64_t n, void* out, const void* const* in) {
  const auto run = [&f = *static_cast<const F*>(f), n, y = static_cast<Result*>(out)](const Operand*... x) {
    at_level([&] {
      HEED_VECTORIZE
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Result>(f(x[i]...));
    });
  };
  const auto at = [&]<size_t... I>(std::index_sequence<I...>) { run(static_cast<const Operand*>(in[I])...); };
  at(std::index_sequence_for<Operand...>());
}

}  // namespace detail

/// out = f(in...), element by element, into an existing tensor. Result and Operand are the C++ types of the
/// elements. The operands broadcast to the shape of `out`. `out` may be one of them; otherwise it must not
/// overlap them.
template <class Result, class... Operand, class F, class... In>
void apply(const F& f, const Tensor& out, const In&... in) {
  static_assert(sizeof...(Operand) == sizeof...(In));
  const detail::Loop loop = detail::loop<F, Result, Operand...>;
  // The usual case first: few elements, all contiguous. (An operand that broadcasts and has as many elements
  // as the result differs from its shape in leading dimensions of size 1 only.)
  const int64_t n = out.numel();
  if (n <= kBlock && out.is_contiguous() && ((in.is_contiguous() && in.numel() == n) && ...)) {
    const std::array<const void*, sizeof...(In)> at{detail::first_of<Operand>(in)...};
    return loop(&f, n, detail::first_of<Result>(out), at.data());
  }
  detail::run_loop(out, {static_cast<const Tensor*>(&in)...}, loop, &f);
}

}  // namespace heed::kernel
