#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "autograd/ops.h"
#include "tensor/parallel.h"
#include "tensor/tensor.h"

/// All elements in row-major order, as doubles.
inline std::vector<double> values(const heed::Tensor& x) { return x.to_vector<double>(); }

/// The largest distance between elements of tensors of one shape, infinite for other shapes and NaN.
inline double largest_difference(const heed::Tensor& a, const heed::Tensor& b) {
  if (a.shape() != b.shape()) return INFINITY;
  if (a.numel() == 0) return 0;
  const double most = max(abs(to(a, heed::float64) - to(b, heed::float64))).item();
  return most >= 0 ? most : INFINITY;
}

/// The text of the Error that f throws; "" when it throws none.
template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const heed::Error& error) {
    return error.what();
  }
  return "";
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
