#pragma once

#include "tensor/scalar.h"
#include "tensor/tensor.h"

/// One value in, one value out: what many kernels and operations share. Any other formula is one line of
/// map.h. Results are new and contiguous; operands may have any strides and broadcast. Operands of one call
/// have one dtype unless said otherwise.
namespace heed::kernel {

Tensor full(const Shape& shape, Scalar value, DType dtype);
Tensor clone(const Tensor& x);       // contiguous
Tensor contiguous(const Tensor& x);  // x itself if it is, or undefined
/// contiguous(x), or a tensor full of `value` if x is undefined.
Tensor contiguous_or(Scalar value, const Tensor& x, const Shape& shape, DType dtype);
/// An uninitialized tensor whose rows, along the last dimension, have the memory order of x's: views of
/// [B, T, H D] as heads, or batches first, are read and written without a copy.
Tensor empty_like_rows(const Shape& shape, const Tensor& x);
Tensor cast(const Tensor& x, DType dtype);
void copy_into(const Tensor& out, const Tensor& x);  // x broadcasts to out and takes its dtype
void fill(const Tensor& out, Scalar value);          // throws if the dtype cannot hold it
void add_into(const Tensor& out, const Tensor& x);   // out += x
void mul_into(const Tensor& out, const Tensor& x);

Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);  // condition is bool

}  // namespace heed::kernel
