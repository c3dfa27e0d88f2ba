#pragma once

#include "tensor/tensor.h"

/// Many values in, one value out. `dims` are the dimensions to reduce over as check_dims returns them:
/// sorted, each once, none missing when all are meant. The result keeps them with size 1, or leaves them out.
namespace heed::kernel {

/// sum x / divisor; int64 and bool are counted in int64, without a divisor.
Tensor sum(const Tensor& x, const Shape& dims, bool keepdim, double divisor = 1);
Tensor mean(const Tensor& x, const Shape& dims, bool keepdim);
Tensor amax(const Tensor& x, const Shape& dims, bool keepdim);  // NaN wins; -inf, or the least, of nothing
Tensor amin(const Tensor& x, const Shape& dims, bool keepdim);
/// log sum exp(x), shifted by the largest so that nothing overflows.
Tensor logsumexp(const Tensor& x, const Shape& dims, bool keepdim);
/// sum (x - mean)^2 / divisor
Tensor var(const Tensor& x, const Shape& dims, double divisor, bool keepdim);

/// The largest (smallest) along one dimension and its first position; NaN counts as the largest, and as the
/// smallest.
struct MaxResult {
  Tensor values, indices;
};
MaxResult max(const Tensor& x, int64_t dim, bool keepdim);
MaxResult min(const Tensor& x, int64_t dim, bool keepdim);

/// The first element in row-major order that is NaN, or infinite; -1 if there is none.
int64_t first_anomaly(const Tensor& x, bool infinity);

/// y_i = x_0 + ... + x_i along `dim`; in reverse x_i + ... + x_last.
Tensor cumsum(const Tensor& x, int64_t dim, bool reverse = false);

}  // namespace heed::kernel
