#pragma once

#include "tensor/tensor.h"

/// NumPy's .npy files.
namespace heed {

/// Writes one tensor in format 1.0, for np.load. An existing file is replaced when the new one is complete.
void save_npy(const std::string& path, const Tensor& x);

/// Reads a file of np.save, format 1.0 to 3.0, in row-major or column-major order:
///
///   <f4 float32, <f8 float64, |b1 bool      the same dtype
///   <f2 float16                             float32
///   |u1 <u2 <u4 |i1 <i2 <i4 <i8 integers    int64
///
/// Throws for other types and malformed files; the message names the file and, in the header, the byte.
Tensor load_npy(const std::string& path);

}  // namespace heed
