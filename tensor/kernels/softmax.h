#pragma once

#include "tensor/tensor.h"

namespace heed::kernel {

enum class SoftmaxForm { plain, masked, log };

// Along `dim`; results are new and contiguous.
Tensor softmax(const Tensor& x, int64_t dim);
Tensor masked_softmax(const Tensor& x, int64_t dim);  // a line of -inf alone gives 0
Tensor log_softmax(const Tensor& x, int64_t dim);
Tensor entmax(const Tensor& x, int64_t dim, double alpha);                   // alpha above 1; 2 is sparsemax
Tensor softmax_backward(const Tensor& g, const Tensor& y, int64_t dim);      // y (g - sum(g y))
Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t dim);  // g - exp(y) sum(g)

}  // namespace heed::kernel
