#pragma once

#include <cmath>

#include "tensor/create.h"

/// cos(step i + start) for element i, in float64: an input whose numbers other programs make as well.
inline heed::Tensor wave(const heed::Shape& shape, double step, double start) {
  std::vector<double> numbers(static_cast<size_t>(heed::numel(shape)));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::cos(step * static_cast<double>(i) + start);
  return heed::from_vector(numbers, shape);
}
