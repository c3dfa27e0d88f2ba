#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "tensor/tensor.h"

#if defined(__clang__)
#define HEED_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#else
#define HEED_VECTORIZE _Pragma("GCC ivdep")
#endif

namespace heed::kernel {

/// Elements that one thread takes at a time: enough to pay for waking it.
inline constexpr int64_t kBlock = 32768;

namespace detail {

/// Runs along one line of n elements: at[0] is the result's first element, the others the operands';
/// step counts elements.
using Line = void (*)(const void* f, int64_t n, char* const* at, const int64_t* step);

/// Cuts the result's elements into lines and runs them all; operands broadcast to the result's shape.
void run_lines(const Tensor& out, std::initializer_list<const Tensor*> in, Line line, const void* f);

template <class T>
char* first_of(const Tensor& x) {
  const TensorBody& body = x.body();
  return reinterpret_cast<char*>(body.storage->data) + body.offset * static_cast<int64_t>(sizeof(T));
}

// One loop for each pattern of steps known at compile time, so that the compiler can vectorise it; step -1
// stands for one that is known at run time only.
template <int Out, int... In, class Result, class F, class... Operand, size_t... I>
void loop(int64_t n, const F& f, Result* out, const int64_t* step, std::index_sequence<I...>,
          const Operand*... in) {
  const auto offset = [&](int64_t i, int fixed, int64_t running) {
    return fixed >= 0 ? i * fixed : i * running;
  };
  HEED_VECTORIZE
  for (int64_t i = 0; i < n; ++i)
    out[offset(i, Out, step[0])] = static_cast<Result>(f(in[offset(i, In, step[I + 1])]...));
}

template <class Result, class... Operand, class F, size_t... I>
void run_line(const F& f, int64_t n, char* const* at, const int64_t* step, std::index_sequence<I...> order) {
  auto* out = reinterpret_cast<Result*>(at[0]);
  const auto with = [&]<int O, int... S>(std::integer_sequence<int, O, S...>) {
    loop<O, S...>(n, f, out, step, order, reinterpret_cast<const Operand*>(at[I + 1])...);
  };
  using Any = std::integer_sequence<int, -1, (static_cast<void>(I), -1)...>;
  if (step[0] != 1) return with(Any{});
  if (((step[I + 1] == 1) && ...)) return with(std::integer_sequence<int, 1, (static_cast<void>(I), 1)...>{});
  if constexpr (sizeof...(Operand) == 2) {
    if (step[1] == 1 && step[2] == 0) return with(std::integer_sequence<int, 1, 1, 0>{});
    if (step[1] == 0 && step[2] == 1) return with(std::integer_sequence<int, 1, 0, 1>{});
  }
  with(Any{});
}

}  // namespace detail

/// out = f(in...) element by element, into a tensor that exists: Result and Operand are the C++ types of the
/// elements. The operands broadcast to the shape of `out`; `out` may be one of them, but not overlap
/// otherwise.
template <class Result, class... Operand, class F, class... In>
void apply(const F& f, const Tensor& out, const In&... in) {
  static_assert(sizeof...(Operand) == sizeof...(In));
  const detail::Line line = [](const void* function, int64_t n, char* const* at, const int64_t* step) {
    detail::run_line<Result, Operand...>(*static_cast<const F*>(function), n, at, step,
                                         std::index_sequence_for<Operand...>{});
  };
  // The usual case, tested first: few elements, in one run. (An operand that broadcasts and has as many
  // elements as the result has its shape, but for leading dimensions of size 1.)
  const int64_t n = out.numel();
  if (n <= kBlock && out.is_contiguous() && ((in.is_contiguous() && in.numel() == n) && ...)) {
    char* const at[] = {detail::first_of<Result>(out), detail::first_of<Operand>(in)...};
    constexpr int64_t step[] = {1, (static_cast<void>(sizeof(In)), 1)...};
    return line(&f, n, at, step);
  }
  detail::run_lines(out, {static_cast<const Tensor*>(&in)...}, line, &f);
}

}  // namespace heed::kernel
