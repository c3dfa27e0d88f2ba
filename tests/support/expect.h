#pragma once

#include <string>
#include <vector>

#include "tensor/parallel.h"
#include "tensor/tensor.h"

/// All elements in row-major order, as doubles.
inline std::vector<double> values(const heed::Tensor& x) { return x.to_vector<double>(); }

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
