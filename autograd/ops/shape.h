#pragma once

#include "autograd/dims.h"
#include "autograd/operand.h"

/// Shapes. Results are views of the same memory where the comments say so. Negative dims count from the back,
/// -1 is the last. Throws for a dimension that x does not have and for shapes that do not fit.
namespace heed {

Tensor alias(Operand x);  ///< A view of x with a node of its own in the graph.
Tensor clone(Operand x);  ///< A contiguous copy.
/// x if it is contiguous, else a contiguous copy.
Tensor contiguous(Operand x);
/// x in another dtype; x itself if it has that dtype. Conversion to int64 truncates, to bool it tests for !=
/// 0.
Tensor to(Operand x, DType dtype);
/// Swaps two dimensions, by default the last two. A view.
Tensor transpose(Operand x, int64_t dim0 = -2, int64_t dim1 = -1);
Tensor t(Operand x);  ///< The transpose of a matrix; vectors and scalars as they are.
/// Dimension i of the result is dimension dims[i] of x; each must appear once. A view.
Tensor permute(Operand x, const Shape& dims);
/// The same elements in row-major order. One size may be -1 and is inferred. A view if the strides allow one,
/// else a copy.
Tensor reshape(Operand x, const Shape& shape);
Tensor view(Operand x, const Shape& shape);  ///< reshape that throws instead of copying
/// Repeats dimensions of size 1 and adds dimensions in front, aligned at the right; -1 keeps a size. A view.
Tensor expand(Operand x, const Shape& shape);
Tensor broadcast_to(Operand x, const Shape& shape);  ///< expand to this shape
Tensor squeeze(Operand x, Dims dims = {});           ///< Removes those of the dims that have size 1. A view.
Tensor unsqueeze(Operand x, int64_t dim);  ///< Inserts size 1 as dimension `dim` of the result. A view.
/// Joins the dimensions from start_dim to end_dim; a scalar becomes [1].
Tensor flatten(Operand x, int64_t start_dim = 0, int64_t end_dim = -1);
/// x[start] to x[start + length - 1] along `dim`. A view. Throws if that is out of range.
Tensor narrow(Operand x, int64_t dim, int64_t start, int64_t length);
/// x[index] along `dim`, which is removed. A view; index -1 is the last.
Tensor select(Operand x, int64_t dim, int64_t index);
/// x[start], x[start + step], ... before `end` along `dim`, as in Python: negative bounds count from the
/// back, and bounds out of range are clamped. A view; the step is positive.
Tensor slice(Operand x, int64_t dim, int64_t start, int64_t end, int64_t step = 1);
/// Parts of this size along `dim`; the last one may be smaller. Views.
std::vector<Tensor> split(Operand x, int64_t size, int64_t dim = 0);
/// Parts of these sizes along `dim`, which must add up to its size. Views.
std::vector<Tensor> split(Operand x, const IntList& sizes, int64_t dim = 0);
/// At most `chunks` parts of equal size along `dim`; the last one may be smaller. Views.
std::vector<Tensor> chunk(Operand x, int64_t chunks, int64_t dim = 0);
/// The tensors one after another along `dim`; the other sizes and the dtypes must be equal. A tensor of shape
/// [0] adds nothing.
Tensor cat(const std::vector<Tensor>& tensors, int64_t dim = 0,
           SourceLocation line = SourceLocation::current());
/// Tensors of one shape along a new dimension, dimension `dim` of the result.
Tensor stack(const std::vector<Tensor>& tensors, int64_t dim = 0,
             SourceLocation line = SourceLocation::current());
/// Reverses the order along each of the dims. A copy.
Tensor flip(Operand x, const Shape& dims);
/// Moves each element by shifts[i] positions along dims[i], at the end on to the front. Without dims, along
/// the flattened x by one shift. A copy.
Tensor roll(Operand x, Dims shifts, Dims dims = {});
/// The order of the dimensions of meshgrid: as the vectors, or with the first two swapped, as in a picture
/// with x to the right.
enum class GridIndexing { ij, xy };
/// The coordinates of a grid: for vectors of sizes n, m, ... tensors [n, m, ...] in which element [i, j, ...]
/// is the i-th of the first vector, the j-th of the second, and so on. Views.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, GridIndexing indexing = GridIndexing::ij,
                             SourceLocation line = SourceLocation::current());
/// Repeats x sizes[i] times along dimension i; more sizes than x has add dimensions in front.
Tensor repeat(Operand x, const Shape& sizes);
/// x_ij for j <= i + diagonal, else 0: of a matrix or a batch of them.
Tensor tril(Operand x, int64_t diagonal = 0);
/// x_ij for j >= i + diagonal, else 0: of a matrix or a batch of them.
Tensor triu(Operand x, int64_t diagonal = 0);
/// Adds pads[0] values before and pads[1] values after the last dimension, pads[2] and pads[3] for the one
/// before it, and so on. A negative number crops.
Tensor pad(Operand x, const IntList& pads, Scalar value = 0);

}  // namespace heed
