#pragma once

#include "autograd/operand.h"

/// Shapes: views of the same memory where the strides allow it. Negative dims count from the back, -1 is the
/// last; one that x does not have is an Error, as are shapes that do not fit.
namespace heed {

Tensor alias(Operand x);  ///< A second name of the same values, with a history of its own.
Tensor clone(Operand x);  ///< A copy, contiguous.
/// x itself if it is contiguous, else a copy.
Tensor contiguous(Operand x);
/// x in another dtype, x itself if it has it: numbers are cut to whole ones for int64, bool means not 0.
Tensor to(Operand x, DType dtype);
/// Two dimensions change places, without names the last two. A view.
Tensor transpose(Operand x, int64_t dim0 = -2, int64_t dim1 = -1);
Tensor t(Operand x);  ///< A matrix transposed; vectors and scalars as they are.
/// Dimension i of the result is dims[i] of x: names each once. A view.
Tensor permute(Operand x, const Shape& dims);
/// The same elements in row-major order; one size may be -1, which is what the others leave. A copy where it
/// must be.
Tensor reshape(Operand x, const Shape& shape);
Tensor view(Operand x, const Shape& shape);  ///< reshape that refuses to copy
/// Repeats dimensions of size 1 and adds some in front, aligned at the right; -1 keeps a size. A view.
Tensor expand(Operand x, const Shape& shape);
Tensor broadcast_to(Operand x, const Shape& shape);  ///< expand to this shape
Tensor squeeze(Operand x, Dims dims = {});           ///< Those of the dims that have size 1 go.
Tensor unsqueeze(Operand x, int64_t dim);  ///< A new dimension of size 1, number `dim` of the result.
/// The dimensions from start_dim to end_dim become one; a scalar becomes [1].
Tensor flatten(Operand x, int64_t start_dim = 0, int64_t end_dim = -1);
/// x[start] to x[start + length - 1] along `dim`. A view; outside of x is an Error.
Tensor narrow(Operand x, int64_t dim, int64_t start, int64_t length);
/// x[index] along `dim`, which goes. A view; -1 is the last.
Tensor select(Operand x, int64_t dim, int64_t index);
/// x[start], x[start + step], ... before `end` along `dim`, as in Python: negative bounds count from the
/// back, bounds outside are moved to the edge. A view; the step is positive.
Tensor slice(Operand x, int64_t dim, int64_t start, int64_t end, int64_t step = 1);
/// Parts of this size along `dim`, the last one shorter.
std::vector<Tensor> split(Operand x, int64_t size, int64_t dim = 0);
/// Parts of these sizes along `dim`, which must add up to its own.
std::vector<Tensor> split(Operand x, const Shape& sizes, int64_t dim = 0);
/// At most so many parts of equal size along `dim`, the last one shorter.
std::vector<Tensor> chunk(Operand x, int64_t chunks, int64_t dim = 0);
/// One behind the other along `dim`; other sizes and the dtypes must be equal. One of shape [0] adds nothing.
Tensor cat(const std::vector<Tensor>& tensors, int64_t dim = 0,
           SourceLocation line = SourceLocation::current());
/// Tensors of one shape side by side along a new dimension, number `dim` of the result.
Tensor stack(const std::vector<Tensor>& tensors, int64_t dim = 0,
             SourceLocation line = SourceLocation::current());
/// The order along each of the dims reversed. A copy.
Tensor flip(Operand x, const Shape& dims);
/// x so many times along each dimension, as tiles; more sizes than x has add dimensions in front.
Tensor repeat(Operand x, const Shape& sizes);
/// x_ij for j <= i + diagonal, else 0: of a matrix, or a batch of them.
Tensor tril(Operand x, int64_t diagonal = 0);
/// x_ij for j >= i + diagonal, else 0: of a matrix, or a batch of them.
Tensor triu(Operand x, int64_t diagonal = 0);
/// Adds so many values before and after each dimension, the last one first; a negative number crops.
Tensor pad(Operand x, const Shape& pads, Scalar value = 0);

}  // namespace heed
