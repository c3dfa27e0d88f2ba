#pragma once

#include "tensor/tensor.h"

/// Many values in, one value out. `dims` are the dimensions to reduce over as check_dims returns them:
/// sorted, each once, none missing when all are meant. The result keeps them with size 1, or leaves them out.
namespace heed::kernel {

Tensor sum(const Tensor& x, const Shape& dims, bool keepdim);  // int64 and bool are counted in int64
Tensor mean(const Tensor& x, const Shape& dims, bool keepdim);
Tensor prod(const Tensor& x, const Shape& dims, bool keepdim);
Tensor amax(const Tensor& x, const Shape& dims, bool keepdim);  // NaN wins; -inf, or the least, of nothing
Tensor amin(const Tensor& x, const Shape& dims, bool keepdim);

}  // namespace heed::kernel
