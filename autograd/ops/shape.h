#pragma once

#include "autograd/operand.h"

/// Shapes: views of the same memory where the strides allow it.
namespace heed {

Tensor alias(Operand x);  // a second name with a history of its own
Tensor clone(Operand x);  // a copy, contiguous
Tensor contiguous(Operand x);
Tensor to(Operand x, DType dtype);
Tensor transpose(Operand x, int64_t dim0 = -2, int64_t dim1 = -1);
Tensor t(Operand x);  // a matrix transposed; vectors and scalars as they are
Tensor permute(Operand x, const Shape& dims);
Tensor reshape(Operand x, const Shape& shape);  // one size may be -1
Tensor view(Operand x, const Shape& shape);     // reshape that refuses to copy
Tensor expand(Operand x, const Shape& shape);   // -1 keeps a size
Tensor broadcast_to(Operand x, const Shape& shape);
Tensor squeeze(Operand x, Dims dims = {});  // those of the dims that have size 1 go
Tensor unsqueeze(Operand x, int64_t dim);
Tensor flatten(Operand x, int64_t start_dim = 0, int64_t end_dim = -1);
Tensor narrow(Operand x, int64_t dim, int64_t start, int64_t length);
Tensor select(Operand x, int64_t dim, int64_t index);
Tensor slice(Operand x, int64_t dim, int64_t start, int64_t end, int64_t step = 1);
std::vector<Tensor> split(Operand x, int64_t size, int64_t dim = 0);
std::vector<Tensor> split(Operand x, const Shape& sizes, int64_t dim = 0);  // parts of these sizes
std::vector<Tensor> chunk(Operand x, int64_t chunks, int64_t dim = 0);
Tensor cat(const std::vector<Tensor>& tensors, int64_t dim = 0, Line line = Line::current());
Tensor stack(const std::vector<Tensor>& tensors, int64_t dim = 0, Line line = Line::current());
Tensor flip(Operand x, const Shape& dims);
Tensor repeat(Operand x, const Shape& sizes);
Tensor tril(Operand x, int64_t diagonal = 0);
Tensor triu(Operand x, int64_t diagonal = 0);
// Sizes before and after each dimension, the last one first; a negative one crops.
Tensor pad(Operand x, const Shape& pads, Number value = 0);

}  // namespace heed
