#include "tensor/kernels/loop.h"

#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"

namespace heed::kernel::detail {
namespace {

constexpr size_t kMaxOperands = 4;
constexpr int64_t kChunk = 512;  // elements in a buffer
constexpr int64_t kTile = 32;    // rows and columns of a tile that is transposed

// Calls f with an unsigned integer as wide as an element: copies need to know no more of its type.
void visit_width(int64_t width, const auto& f) {
  if (width == 4) return f(uint32_t{});
  if (width == 8) return f(uint64_t{});
  f(uint8_t{});
}

// to = from. The inner loop runs over the longer dimension, or along rows that are dense and not very short.
template <class Word>
void copy_matrix(int64_t rows, int64_t columns, Matrix<const Word> from, Matrix<Word> to) {
  if (rows > columns && (columns < 8 || from.col_step != 1 || to.col_step != 1))
    return copy_matrix(columns, rows, from.transposed(), to.transposed());
  for (int64_t i = 0; i < rows; ++i) {
    const Word* in = from.at(i, 0);
    Word* out = to.at(i, 0);
    if (to.col_step == 1 && from.col_step == 0)
      for (int64_t j = 0; j < columns; ++j) out[j] = *in;
    else if (to.col_step == 1 && from.col_step == 1)
      for (int64_t j = 0; j < columns; ++j) out[j] = in[j];
    else if (to.col_step == 1)
      for (int64_t j = 0; j < columns; ++j) out[j] = in[j * from.col_step];
    else
      for (int64_t j = 0; j < columns; ++j) out[j * to.col_step] = in[j * from.col_step];
  }
}

// An operand or the result of a loop. Its elements are counted in the row-major order of the result's shape.
struct StridedOperand {
  char* first = nullptr;
  int64_t width = 0;
  bool dense = true;  // the elements are adjacent in memory, in this order
  CollapsedDims dims;

  StridedOperand() = default;
  StridedOperand(const Tensor& x, const Shape& shape) : width(size_of(x.dtype())) {
    const TensorImpl& body = TensorImpl::of(x);
    first = reinterpret_cast<char*>(body.storage->data) + body.offset * width;
    dense = body.contiguous && body.shape == shape;
    if (dense) return;
    dims = CollapsedDims(shape, broadcast_strides(x, shape));
    dense = dims.sizes.dim() == 1 && dims.inner_step() == 1;
  }

  bool is_scalar() const { return !dense && dims.sizes.dim() <= 1 && dims.inner_step() == 0; }
  char* at(int64_t index) const { return first + index * width; }
  /// Copies the elements [begin, begin + n) to the buffer, or back.
  void copy(bool to_buffer, int64_t begin, int64_t n, void* buffer) const {
    const int64_t size = dims.inner_size(), step = dims.inner_step(), outer = dims.sizes.dim() - 1;
    const int64_t rows = outer < 1 ? 1 : dims.sizes[outer - 1];
    const int64_t stride = outer < 1 ? 0 : dims.steps[outer - 1];
    visit_width(width, [&]<class Word>(Word) {
      auto* packed = static_cast<Word*>(buffer);
      while (n > 0) {  // part of a row, or as many whole rows as are evenly spaced
        const int64_t row = begin / size, start = begin % size;
        const int64_t whole = start > 0 ? 0 : std::min(n / size, rows - row % rows);
        const int64_t count = std::max<int64_t>(whole, 1), columns = std::min(n, size - start);
        const Matrix<Word> dense_rows{packed, columns, 1};
        const Matrix<Word> strided{reinterpret_cast<Word*>(first) + dims.row_at(row) + start * step, stride,
                                   step};
        to_buffer ? copy_matrix<Word>(count, columns, strided, dense_rows)
                  : copy_matrix<Word>(count, columns, dense_rows, strided);
        packed += count * columns;
        begin += count * columns;
        n -= count * columns;
      }
    });
  }
};

// Transposes a tile by way of a buffer that stays in the cache: the rows of `from` are far apart in memory,
// its columns close.
template <class Word>
void transpose_tile(int64_t rows, int64_t columns, Matrix<const Word> from, Matrix<Word> to) {
  if constexpr (sizeof(Word) == 4)  // in registers, in a fifth of the time
    if (from.row_step == 1) return transpose_matrix(rows, columns, from, to);
  Word buffer[kTile * kTile];
  const Matrix<Word> tile{buffer, kTile, 1};
  copy_matrix<Word>(columns, rows, from.transposed(), tile.transposed());
  copy_matrix<Word>(rows, columns, tile, to);
}

}  // namespace

Tensor transposed_copy(const Tensor& x) {
  if (reference_mode() || x.is_contiguous() || x.numel() < kTile * kTile) return Tensor();
  const CollapsedDims dims(x.shape(), x.strides());
  const Shape& sizes = dims.sizes;
  const Strides &steps = dims.steps, strides = contiguous_strides(sizes);
  const int64_t last = sizes.dim() - 1;
  int64_t closest = last;  // the dimension with the smallest step: its elements become the rows of a tile
  for (int64_t d = 0; d < last; ++d)
    if (steps[d] != 0 && steps[d] < steps[closest]) closest = d;
  if (closest == last) return Tensor();

  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const Shape outer(sizes.data(), last);
  const CollapsedDims x_outer(outer, steps, closest), y_outer(outer, strides, closest);
  const int64_t rows = sizes[closest], columns = sizes[last];
  const int64_t down = ceil_div(rows, kTile), across = ceil_div(columns, kTile);
  visit_width(size_of(x.dtype()), [&]<class Word>(Word) {
    const int64_t tiles = x.numel() / (rows * columns) * down * across;
    each_row(tiles, kTile * kTile, [&](int64_t tile) {
      const int64_t matrix = tile / across / down;
      const int64_t i = tile / across % down * kTile, j = tile % across * kTile;
      const Matrix<const Word> from{first_of<Word>(x) + x_outer.at(matrix), steps[closest], steps[last]};
      const Matrix<Word> to{first_of<Word>(y) + y_outer.at(matrix), strides[closest], 1};
      transpose_tile(std::min(kTile, rows - i), std::min(kTile, columns - j), from.block(i, j),
                     to.block(i, j));
    });
  });
  return y;
}

void run_loop(const Tensor& out, std::initializer_list<const Tensor*> in, Loop loop, const void* f) {
  if (reference_mode()) return plain::run_loop(out, in, loop, f);
  const size_t count = in.size();
  const StridedOperand result(out, out.shape());
  std::array<Tensor, kMaxOperands> copies;
  std::array<StridedOperand, kMaxOperands> operands;
  bool dense = result.dense;
  for (size_t i = 0; i < count; ++i) {
    const Tensor& x = *in.begin()[i];
    copies[i] = transposed_copy(x);
    operands[i] = StridedOperand(copies[i].defined() ? copies[i] : x, out.shape());
    dense &= operands[i].dense;
  }
  const int64_t chunk = dense ? kBlock : kChunk;
  parallel_for(out.numel(), kBlock, [&](int64_t begin, int64_t end) {
    alignas(64) char buffers[kMaxOperands + 1][kChunk * sizeof(int64_t)];
    std::array<const void*, kMaxOperands> at;
    for (size_t i = 0; i < count; ++i) {
      at[i] = buffers[i];
      if (operands[i].is_scalar()) operands[i].copy(true, begin, std::min(kChunk, end - begin), buffers[i]);
    }
    for (int64_t start = begin; start < end; start += chunk) {
      const int64_t n = std::min(chunk, end - start);
      for (size_t i = 0; i < count; ++i) {
        if (operands[i].dense)
          at[i] = operands[i].at(start);
        else if (!operands[i].is_scalar())
          operands[i].copy(true, start, n, buffers[i]);
      }
      loop(f, n, result.dense ? result.at(start) : buffers[kMaxOperands], at.data());
      if (!result.dense) result.copy(false, start, n, buffers[kMaxOperands]);
    }
  });
}

}  // namespace heed::kernel::detail
