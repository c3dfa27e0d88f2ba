#pragma once

#include "tensor/tensor.h"

/// Elements selected by int64 positions. A position out of range throws. Tensors have at least one dimension
/// and any strides. Sums are in the order of the positions, for any number of threads.
namespace heed::kernel {

/// y[.., i, ..] = x[.., index[.., i, ..], ..] with i along dim; y has the shape of index.
Tensor gather(const Tensor& x, int64_t dim, const Tensor& index);
/// out[.., index[.., i, ..], ..] += src[.., i, ..]
void scatter_add_into(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& src);
/// out[.., index[.., i, ..], ..] = src[.., i, ..]; of equal positions the last counts.
void scatter_into(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& src);
/// y[.., i, ..] = x[.., index[i], ..]
Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index);
/// out[.., index[i], ..] += src[.., i, ..]; out is contiguous
void index_add_into(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& src);
/// The positions of the true elements of a mask, counted in row-major order.
Tensor positions_of_true(const Tensor& mask);
/// The positions along dim of the k smallest (or largest) elements, in order. Equal elements keep their
/// order; NaN counts as the largest.
Tensor order(const Tensor& x, int64_t dim, int64_t k, bool descending);

}  // namespace heed::kernel
