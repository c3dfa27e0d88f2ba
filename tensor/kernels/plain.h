#pragma once

#include "tensor/kernels/attention.h"
#include "tensor/kernels/conv.h"
#include "tensor/kernels/loop.h"
#include "tensor/kernels/norm.h"
#include "tensor/kernels/recurrent.h"
#include "tensor/kernels/softmax.h"
#include "tensor/reference.h"

/// The kernels as nested loops: one thread, one element after another, sums in float64. Read these first. The
/// fast kernel of the same name computes the same in blocks, vectors and threads, and is tested against them;
/// in reference_mode() it calls them instead.
namespace heed::kernel::plain {

/// out_i = f(in_i...) for each element. The loop computes adjacent elements; here it gets one at a time.
void run_loop(const Tensor& out, std::initializer_list<const Tensor*> in, detail::Loop loop, const void* f);

/// y_ij = start_ij + alpha sum_l a_il b_lj
Tensor matmul(const Tensor& a, const Tensor& b, const Tensor& start, double alpha);

/// sum of x / divisor over some dimensions
Tensor sum(const Tensor& x, const Shape& dims, bool keepdim, double divisor);
/// The largest or the smallest element over some dimensions. NaN wins.
Tensor extremum(const Tensor& x, const Shape& dims, bool keepdim, bool largest);

/// y_i = exp(x_i) / sum_j exp(x_j) along one dimension, or its logarithm. A line of -inf gives 0 if masked,
/// else NaN.
Tensor softmax(const Tensor& x, int64_t dim, SoftmaxForm form);

// With the arguments of the fast kernels.
decltype(kernel::norm) norm;
decltype(kernel::convolution) convolution;
decltype(kernel::attention) attention;
decltype(kernel::attention_backward) attention_backward;
decltype(kernel::recurrent_forward) recurrent_forward;

}  // namespace heed::kernel::plain
