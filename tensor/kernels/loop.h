#pragma once

#include <array>

#include "tensor/tensor.h"

#if defined(__clang__)
#define HEED_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#define HEED_UNROLL _Pragma("clang loop unroll(full)")
#else
#define HEED_VECTORIZE _Pragma("GCC ivdep")
#define HEED_UNROLL _Pragma("GCC unroll 16")
#endif

namespace heed::kernel {

/// Elements that one thread takes at a time: enough to pay for waking it.
inline constexpr int64_t kBlock = 32768;

/// Formulas that several kernels share, of numbers as well as packs of them.
inline constexpr auto itself = [](auto v) { return v; };
inline constexpr auto squared = [](auto v) { return v * v; };
inline constexpr auto plus = [](auto u, auto v) { return u + v; };
inline constexpr auto minus = [](auto u, auto v) { return u - v; };
inline constexpr auto times = [](auto u, auto v) { return u * v; };

/// The type in which elements of type T are added and multiplied: integers as unsigned ones, which wrap
/// around where signed ones are undefined.
template <class T>
using Wrapping = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;

/// Some dimensions of a tensor, with the steps from element to element along each. Size 1 is left out, and
/// neighbours that are one run of memory are merged, so that what is left is short.
struct CollapsedDims {
  Shape sizes;
  Strides steps;

  CollapsedDims() = default;
  /// All of x, broadcast to the shape.
  CollapsedDims(const Tensor& x, const Shape& shape) {
    const int64_t lead = shape.dim() - x.dim();
    for (int64_t d = 0; d < shape.dim(); ++d)
      add(shape[d], d < lead || x.shape()[d - lead] == 1 ? 0 : x.strides()[d - lead]);
  }
  /// All dimensions but one: where the lines along that one start.
  CollapsedDims(const Shape& shape, const Strides& strides, int64_t left_out) {
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
  /// Where element number `index` is, in elements from the first.
  int64_t at(int64_t index) const { return at(index, sizes.dim()); }
  /// Where run number `index` along the innermost dimension starts.
  int64_t run_at(int64_t index) const { return at(index, sizes.dim() - 1); }
  /// Calls f(offset, n) for the stretches along the innermost dimension that the elements [begin, end)
  /// consist of.
  template <class F>
  void each_stretch(int64_t begin, int64_t end, const F& f) const {
    for (const int64_t size = inner_size(); begin < end;) {
      const int64_t start = begin % size, n = std::min(end - begin, size - start);
      f(run_at(begin / size) + start * inner_step(), n);
      begin += n;
    }
  }

 private:
  int64_t at(int64_t index, int64_t dims) const {
    if (dims <= 0) return 0;
    int64_t offset = 0, d = dims - 1;
    for (; d > 0; index /= sizes[d--]) offset += index % sizes[d] * steps[d];
    return offset + index * steps[0];
  }
};

namespace detail {

/// Computes n neighbouring elements of the result from n of every operand: loop() for some types.
using Loop = void (*)(const void* f, int64_t n, void* out, const void* const* in);

/// A row-major copy of x if its neighbours in memory are not neighbours in its last dimension, as in a
/// transposed matrix, and it is not small; else an undefined tensor.
Tensor turned(const Tensor& x);

/// Runs the loop over all elements of the result, to whose shape the operands broadcast. Those that are not
/// in row-major order without gaps go through a buffer, a few hundred elements at a time; so each function
/// needs one loop, which is the one that becomes vector code.
void run_loop(const Tensor& out, std::initializer_list<const Tensor*> in, Loop loop, const void* f);

/// The first element, for reading and writing. Does not count as a write.
template <class T>
T* first_of(const Tensor& x) {
  const TensorImpl& body = TensorImpl::of(x);
  return reinterpret_cast<T*>(body.storage->data) + body.offset;
}

template <class F, class Result, class... Operand>
void loop(const void* f, int64_t n, void* out, const void* const* in) {
  const auto run = [&f = *static_cast<const F*>(f), n, y = static_cast<Result*>(out)](const Operand*... x) {
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Result>(f(x[i]...));
  };
  const auto at = [&]<size_t... I>(std::index_sequence<I...>) { run(static_cast<const Operand*>(in[I])...); };
  at(std::index_sequence_for<Operand...>());
}

}  // namespace detail

/// out = f(in...) element by element, into a tensor that exists: Result and Operand are the C++ types of the
/// elements. The operands broadcast to the shape of `out`; `out` may be one of them, but not overlap
/// otherwise.
template <class Result, class... Operand, class F, class... In>
void apply(const F& f, const Tensor& out, const In&... in) {
  static_assert(sizeof...(Operand) == sizeof...(In));
  const detail::Loop loop = detail::loop<F, Result, Operand...>;
  // The usual case, tested first: few elements, in one run. (An operand that broadcasts and has as many
  // elements as the result has its shape, but for leading dimensions of size 1.)
  const int64_t n = out.numel();
  if (n <= kBlock && out.is_contiguous() && ((in.is_contiguous() && in.numel() == n) && ...)) {
    const std::array<const void*, sizeof...(In)> at{detail::first_of<Operand>(in)...};
    return loop(&f, n, detail::first_of<Result>(out), at.data());
  }
  detail::run_loop(out, {static_cast<const Tensor*>(&in)...}, loop, &f);
}

}  // namespace heed::kernel
