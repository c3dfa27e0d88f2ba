#pragma once

#include "tensor/tensor.h"

/// Elements picked by int64 positions. A position outside is an error. Tensors have at least one dimension
/// and any strides; sums are in the order of the positions, on any number of threads.
namespace heed::kernel {

/// y[.., i, ..] = x[.., index[.., i, ..], ..] with i along dim; y has the shape of index.
Tensor gather(const Tensor& x, int64_t dim, const Tensor& index);
/// out[.., index[.., i, ..], ..] += src[.., i, ..]
void scatter_add_into(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& src);
/// y[.., i, ..] = x[.., index[i], ..]
Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index);
/// out[.., index[i], ..] += src[.., i, ..]; out is contiguous
void index_add_into(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& src);
/// Where the true elements of a mask are, counted in row-major order.
Tensor positions_of_true(const Tensor& mask);
/// Positions along dim of the k smallest (or largest) elements in their order: equals as they stood, NaN
/// above all.
Tensor order(const Tensor& x, int64_t dim, int64_t k, bool descending);

}  // namespace heed::kernel
