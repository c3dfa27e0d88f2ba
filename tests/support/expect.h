#pragma once

// The includes of most tests: doctest, operations, and helpers for expectations. Without
// autograd/ops/elementwise.h, where most operations are added: only tests that need it are rebuilt then.

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

using Values = std::vector<double>;
using Texts = std::vector<std::string>;

constexpr double kInf = INFINITY, kNaN = NAN;

/// All elements in row-major order, as doubles.
inline Values values(const heed::Tensor& x) { return x.to_vector<double>(); }

/// The bytes of all elements in row-major order.
inline std::string bytes_of(const heed::Tensor& x) {
  std::string bytes;
  x.for_each([&](auto v) { bytes.append(reinterpret_cast<const char*>(&v), sizeof v); });
  return bytes;
}

/// The largest distance between numbers at the same place, or its share of the second where that is above 1.
/// NaN is no distance from NaN and infinitely far from all else, as an infinity is from all but itself; so
/// are lists of other lengths from each other.
enum class Difference { absolute, relative };
inline double largest_difference(const Values& a, const Values& b, Difference kind = Difference::absolute) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double unit = kind == Difference::relative ? std::max(1.0, std::abs(b[i])) : 1;
    const double distance = std::abs(a[i] - b[i]) / unit;
    if (!(distance <= most)) most = std::isnan(distance) ? INFINITY : distance;
  }
  return most;
}
/// The largest absolute value.
inline double magnitude(const heed::Tensor& x) {
  return largest_difference(values(x), Values(static_cast<size_t>(x.numel()), 0));
}
/// Holds that the values come up to a bound on either side or nearly, and not beyond: those of a uniform
/// start.
inline void check_fills(const heed::Tensor& x, double bound, double share = 0.9) {
  CHECK(magnitude(x) <= bound);
  CHECK(magnitude(x) > share * bound);
}
inline double largest_difference(const heed::Tensor& a, const heed::Tensor& b) {
  return a.shape() == b.shape() ? largest_difference(values(a), values(b)) : INFINITY;
}

/// A leaf of these numbers in float64.
inline heed::Tensor leaf(const heed::NestedList& values) {
  return heed::tensor(values, heed::float64).requires_grad_();
}

/// The layer with all that is floating in float64.
template <class Layer>
Layer in_float64(Layer layer) {
  layer.to(heed::float64);
  return layer;
}

inline bool share_memory(const heed::Tensor& a, const heed::Tensor& b) {
  return heed::TensorImpl::of(a).storage.get() == heed::TensorImpl::of(b).storage.get();
}

/// 0, 1, 2, ... in this shape.
inline heed::Tensor counted(const heed::Shape& shape, heed::DType dtype = heed::float32) {
  return reshape(heed::arange(0, static_cast<double>(heed::numel(shape)), 1, dtype), shape);
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

/// The text of the Error that f throws; "" when it throws none.
template <class F>
std::string whole_message(F&& f) {
  try {
    f();
  } catch (const heed::Error& error) {
    return error.what();
  }
  return "";
}

/// The same without the place of the call, with which its first line ends when an operation or a gradient
/// rule refuses.
template <class F>
std::string message(F&& f) {
  const std::string text = whole_message(f);
  const size_t place = std::min(text.find("; called at "), text.find(", called at "));
  if (place == std::string::npos) return text;
  const size_t end = text.find('\n', place);
  return text.substr(0, place) + (end == std::string::npos ? "" : text.substr(end));
}

/// Checks that the expression throws an Error that says just this before the line of the caller.
#define CHECK_ERROR(expression, said) CHECK(message([&] { expression; }) == said)

/// Checks that it throws one that says this among other things.
#define CHECK_ERROR_HAS(expression, part)                        \
  do {                                                           \
    const std::string error_text = message([&] { expression; }); \
    CHECK_MESSAGE(contains(error_text, part), error_text);       \
  } while (false)

/// Calls f without recording, to write in place.
template <class F>
void unrecorded(F&& f) {
  const heed::NoGrad guard;
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

/// Operations are their references, or not, until the end of the scope.
class Reference {
 public:
  explicit Reference(bool on) { heed::set_reference_mode(on); }
  ~Reference() { heed::set_reference_mode(before_); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

 private:
  const bool before_ = heed::reference_mode();
};

/// Kernels use this many threads until the end of the scope.
class Threads {
 public:
  explicit Threads(int count) : before_(heed::num_threads()) { heed::set_num_threads(count); }
  ~Threads() { heed::set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};
