#pragma once

#include "examples/forms/form_list.h"

/// Time and memory of one layer as the length T of its input grows.
namespace program {

/// The exponents p of c T^p through the measurements at the three largest lengths.
struct FormScaling {
  std::vector<double> seconds, bytes;  ///< forward and backward, for each length
  double time = NAN, memory = NAN;
};

/// Measures a layer with 4 heads of width 8, causal, forward and backward: the least time of `repeats`, and
/// the most memory that was alive at once, without what was alive before. Errors: fewer than three lengths.
FormScaling measure_scaling(const Form& form, const std::vector<int64_t>& lengths, int64_t repeats = 3);

}  // namespace program
