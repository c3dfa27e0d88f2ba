#pragma once

// The includes of most tests: doctest, operations, and helpers for expectations. It leaves out
// autograd/ops/elementwise.h, where most operations are added, so that only tests that need it are rebuilt.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "autograd/debug/gradcheck.h"
#include "autograd/engine.h"
#include "autograd/function.h"
#include "autograd/ops/in_place.h"
#include "autograd/ops/index.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/products.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sort.h"
#include "tensor/create.h"
#include "tensor/parallel.h"
#include "tests/support/leaves.h"

using namespace heed;  // only test files include this header
using Values = std::vector<double>;
using Texts = std::vector<std::string>;
using Tensors = std::vector<Tensor>;

constexpr double kInf = INFINITY, kNaN = NAN;

/// All elements in row-major order, as doubles.
Values values(const Tensor& x);

/// The bytes of all elements in row-major order.
std::string bytes_of(const Tensor& x);

/// The largest |a[i] - b[i]|; Difference::relative divides it by max(1, |b[i]|). The difference is 0 between
/// two NaN or equal infinities, and infinite if only one is NaN or infinite, or if the lengths differ.
enum class Difference { absolute, relative };
double largest_difference(const Values& a, const Values& b, Difference kind = Difference::absolute);
/// The largest absolute value.
inline double magnitude(const Tensor& x) {
  return largest_difference(values(x), Values(static_cast<size_t>(x.numel()), 0));
}
/// Checks that the largest absolute value is close to `bound` and not above it, as for a uniform
/// initialization.
inline void check_fills(const Tensor& x, double bound, double share = 0.9) {
  CHECK(magnitude(x) <= bound);
  CHECK(magnitude(x) > share * bound);
}
inline double largest_difference(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() ? largest_difference(values(a), values(b)) : INFINITY;
}

/// A float64 leaf with these values.
inline Tensor leaf(const NestedList& values) { return tensor(values, float64).requires_grad_(); }

/// The layer with its floating parameters and buffers in float64.
template <class Layer>
Layer in_float64(Layer layer) {
  layer.to(float64);
  return layer;
}

/// A copy in its own memory and without a history.
inline Tensor fresh(const Tensor& x) { return clone(x.detach()); }

inline bool share_memory(const Tensor& a, const Tensor& b) {
  return TensorImpl::of(a).storage.get() == TensorImpl::of(b).storage.get();
}

/// 0, 1, 2, ... in this shape.
inline Tensor counted(const Shape& shape, DType dtype = float32) {
  return reshape(arange(0, static_cast<double>(numel(shape)), 1, dtype), shape);
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

/// The number of occurrences that do not overlap.
inline int64_t occurrences(const std::string& text, const std::string& part) {
  int64_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

/// "file:line" as messages contain it, of the calling file.
inline std::string place(int line, const char* file = __builtin_FILE()) {
  return std::string(file) + ":" + std::to_string(line);
}

#ifdef __wasm__
// Nothing can catch there, so JavaScript calls f. If f throws, all that it did is undone: see
// tests/wasm/run.js.
extern "C" {
[[clang::import_module("heed"), clang::import_name("attempt")]] size_t heed_attempt(void (*)(void*), void*);
[[clang::import_module("heed"), clang::import_name("message")]] void heed_message(char* to);
}
template <class F>
std::string whole_message(F&& f) {
  auto call = [&] { f(); };
  std::string text(heed_attempt([](void* self) { (*static_cast<decltype(call)*>(self))(); }, &call), 0);
  heed_message(text.data());
  return text;
}
#undef CHECK_THROWS_AS
#define CHECK_THROWS_AS(expression, type) CHECK(whole_message([&] { expression; }) != "")
#else
/// The message of the Error that f throws; "" if it throws none.
template <class F>
std::string whole_message(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
#endif

/// The same without the "; called at file:line" that ends the first line of an operation's message.
template <class F>
std::string message(F&& f) {
  const std::string text = whole_message(f);
  const size_t place = std::min(text.find("; called at "), text.find(", called at "));
  if (place == std::string::npos) return text;
  const size_t end = text.find('\n', place);
  return text.substr(0, place) + (end == std::string::npos ? "" : text.substr(end));
}

/// Checks that the expression throws an Error with exactly this message, without the line of the call.
#define CHECK_ERROR(expression, said) CHECK(message([&] { expression; }) == said)

/// Checks that it throws an Error whose message contains this.
#define CHECK_ERROR_HAS(expression, part)                        \
  do {                                                           \
    const std::string error_text = message([&] { expression; }); \
    CHECK_MESSAGE(contains(error_text, part), error_text);       \
  } while (false)

/// Calls f without recording.
template <class F>
void unrecorded(F&& f) {
  const NoGrad guard;
  f();
}

/// Whether AddressSanitizer is compiled in.
#if defined(__SANITIZE_ADDRESS__)
#define HEED_ASAN true
#elif defined(__has_feature)
#define HEED_ASAN __has_feature(address_sanitizer)
#else
#define HEED_ASAN false
#endif

/// Sets a value of the whole process until the end of the scope.
template <auto get, auto set>
class Scoped {
 public:
  explicit Scoped(decltype(get()) value) { set(value); }
  ~Scoped() { set(before_); }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

 private:
  const decltype(get()) before_ = get();
};
/// Whether operations run their reference implementations.
using Reference = Scoped<reference_mode, set_reference_mode>;
/// The number of threads that kernels use.
using Threads = Scoped<num_threads, set_num_threads>;
