#pragma once

#include <string>
#include <vector>

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
