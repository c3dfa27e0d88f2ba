#pragma once

#include "tensor/tensor.h"

/// Files of NumPy.
namespace heed {

/// Writes one tensor as NumPy's np.load reads it (format 1.0). The old file stays whole until the new one is.
void save_npy(const std::string& path, const Tensor& x);

/// Reads what np.save wrote, format 1.0 to 3.0, rows or columns first: '<f4', '<f8', '<i8' and '|b1', which
/// are float32, float64, int64 and bool. Refuses anything else and says at which byte.
Tensor load_npy(const std::string& path);

}  // namespace heed
