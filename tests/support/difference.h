#pragma once

#include "tensor/tensor.h"

namespace heed::parity {

/// Tolerance of a floating result: |got - want| <= absolute + relative |want|.
struct Tolerance {
  double relative = 0, absolute = 0;
};

/// "" if `got` equals `want`; otherwise what differs: dtype, shape, or the number of wrong elements and the
/// worst. NaN equals NaN, an infinity only itself; integers and bools must be equal.
std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance);

}  // namespace heed::parity
