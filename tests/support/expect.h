#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "autograd/ops.h"
#include "tensor/create.h"
#include "tensor/parallel.h"
#include "tensor/tensor.h"

/// All elements in row-major order, as doubles.
inline std::vector<double> values(const heed::Tensor& x) { return x.to_vector<double>(); }

/// The largest distance between numbers at the same place. NaN is no distance from NaN and infinitely far from all
/// else, as an infinity is from all but itself; so are lists of other lengths from each other.
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double distance = std::abs(a[i] - b[i]);
    if (!(distance <= most)) most = std::isnan(distance) ? INFINITY : distance;
  }
  return most;
}
inline double largest_difference(const heed::Tensor& a, const heed::Tensor& b) {
  return a.shape() == b.shape() ? largest_difference(values(a), values(b)) : INFINITY;
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

/// The same without the line of the caller, which it ends with when an operation or a gradient rule refuses.
template <class F>
std::string message(F&& f) {
  const std::string text = whole_message(f);
  return text.substr(0, std::min(text.find("; called at "), text.find(", called at ")));
}

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
