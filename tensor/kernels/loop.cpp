#include "tensor/kernels/loop.h"

#include "tensor/kernels/outer_inner.h"

namespace heed::kernel::detail {
namespace {

constexpr size_t kMaxOperands = 3;  // operands
constexpr int64_t kChunk = 512;     // elements in a buffer
constexpr int64_t kTile = 32;       // lines and columns of a tile that is turned

// Calls f with an unsigned integer of as many bytes as an element: what moves elements needs no more.
template <class F>
void visit_width(int64_t width, const F& f) {
  if (width == 4) return f(uint32_t{});
  if (width == 8) return f(uint64_t{});
  f(uint8_t{});
}

// Moves n elements between memory, where they are `step` apart, and a buffer, where they are `gap` apart.
template <class Word, class Gap>
void move_line(bool gather, Word* far, int64_t step, Word* near, Gap gap, int64_t n) {
  if (!gather)
    for (int64_t i = 0; i < n; ++i) far[i * step] = near[i * gap];
  else if (step == 0)
    for (int64_t i = 0; i < n; ++i) near[i * gap] = *far;
  else if (step == 1)
    for (int64_t i = 0; i < n; ++i) near[i * gap] = far[i];
  else
    for (int64_t i = 0; i < n; ++i) near[i * gap] = far[i * step];
}

// Moves lines of `size` elements, in memory a stride apart. The longer of the two dimensions is the inner
// loop.
template <class Word>
void move_lines(bool gather, Word* far, int64_t size, int64_t step, int64_t stride, Word* near,
                int64_t lines) {
  constexpr std::integral_constant<int64_t, 1> one;
  if (lines <= size)
    for (int64_t i = 0; i < lines; ++i) move_line(gather, far + i * stride, step, near + i * size, one, size);
  else
    for (int64_t i = 0; i < size; ++i) move_line(gather, far + i * step, stride, near + i, size, lines);
}

// A tensor as an operand, or the result: its elements in the row-major order of the result's shape.
struct Stream {
  char* first = nullptr;
  int64_t width = 0;
  bool dense = true;  // the elements are neighbours in memory, in this order
  CollapsedDims lattice;

  Stream() = default;
  Stream(const Tensor& x, const Shape& shape) : width(size_of(x.dtype())) {
    const TensorImpl& body = TensorImpl::of(x);
    first = reinterpret_cast<char*>(body.storage->data) + body.offset * width;
    dense = body.contiguous && body.shape == shape;
    if (dense) return;
    lattice = CollapsedDims(x, shape);
    dense = lattice.sizes.dim() == 1 && lattice.inner_step() == 1;
  }

  bool one_value() const { return !dense && lattice.sizes.dim() <= 1 && lattice.inner_step() == 0; }
  char* at(int64_t index) const { return first + index * width; }
  /// Elements [begin, begin + n) to the buffer, or back.
  void move(bool gather, int64_t begin, int64_t n, void* buffer) const {
    const int64_t size = lattice.inner_size(), step = lattice.inner_step();
    const int64_t outer = lattice.sizes.dim() - 1;
    const int64_t lines = outer < 1 ? 1 : lattice.sizes[outer - 1];
    const int64_t stride = outer < 1 ? 0 : lattice.steps[outer - 1];
    visit_width(width, [&]<class Word>(Word) {
      auto* near = static_cast<Word*>(buffer);
      while (n > 0) {  // part of a line, or as many whole lines as are a stride apart
        const int64_t line = begin / size, start = begin % size;
        auto* far = reinterpret_cast<Word*>(first) + lattice.run_at(line) + start * step;
        const int64_t whole = start > 0 ? 0 : std::min(n / size, lines - line % lines);
        const int64_t count = whole > 0 ? whole * size : std::min(n, size - start);
        move_lines(gather, far, std::min(size, count), step, stride, near, std::max<int64_t>(whole, 1));
        near += count;
        begin += count;
        n -= count;
      }
    });
  }
};

// The dimension along which the elements are closest in memory: the last, as usual, or an earlier one.
int64_t closest_dim(const Strides& steps) {
  int64_t closest = steps.dim() - 1;
  for (int64_t d = 0; d < steps.dim() - 1; ++d)
    if (steps[d] != 0 && std::abs(steps[d]) < std::abs(steps[closest])) closest = d;
  return closest;
}

// Copies `lines` lines of n elements, whose neighbours are close across the lines, by way of a tile that
// stays in the cache. The lines of the copy are `stride` apart.
template <class Word>
void turn_tile(const Word* from, int64_t step, int64_t across, int64_t n, int64_t lines, Word* to,
               int64_t stride) {
  if constexpr (sizeof(Word) == 4)  // in registers, a fifth of the time
    if (across == 1 && n == kTile && lines == kTile) {
      constexpr int64_t size = Simd<Word>::size;
      for (int64_t i = 0; i < kTile * kTile / size; i += size) {
        const int64_t row = i % kTile, line = i / kTile * size;
        typename Simd<Word>::Values v[size];
        HEED_UNROLL
        for (int64_t r = 0; r < size; ++r) v[r] = Simd<Word>::load(from + (row + r) * step + line);
        transpose_square<Word>(v);
        HEED_UNROLL
        for (int64_t r = 0; r < size; ++r) Simd<Word>::store(to + (line + r) * stride + row, v[r]);
      }
      return;
    }
  Word tile[kTile][kTile];
  for (int64_t i = 0; i < n; ++i)
    for (int64_t line = 0; line < lines; ++line) tile[line][i] = from[i * step + line * across];
  for (int64_t line = 0; line < lines; ++line) std::copy_n(tile[line], n, to + line * stride);
}

}  // namespace

Tensor turned(const Tensor& x) {
  if (x.is_contiguous() || x.numel() < kTile * kTile) return Tensor();
  const CollapsedDims lattice(x, x.shape());
  const Shape& sizes = lattice.sizes;
  const Strides &steps = lattice.steps, strides = contiguous_strides(sizes);
  const int64_t across = closest_dim(steps), last = sizes.dim() - 1;
  if (across == last) return Tensor();

  Tensor y = Tensor::empty(x.shape(), x.dtype());
  // The dimensions besides the two.
  const Shape outer(sizes.data(), last);
  const CollapsedDims x_others(outer, steps, across), y_others(outer, strides, across);
  const int64_t n = sizes[last], lines = sizes[across];
  const auto tiles_in = [](int64_t size) { return (size + kTile - 1) / kTile; };
  const int64_t tiles = x.numel() / (n * lines) * tiles_in(n) * tiles_in(lines);
  visit_width(size_of(x.dtype()), [&]<class Word>(Word) {
    const Word* from = first_of<Word>(x);
    Word* to = first_of<Word>(y);
    parallel_for(tiles, kBlock / (kTile * kTile), [&](int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end; ++tile) {
        const int64_t i = tile % tiles_in(n) * kTile, line = tile / tiles_in(n) % tiles_in(lines) * kTile;
        const int64_t other = tile / tiles_in(n) / tiles_in(lines);
        turn_tile(from + x_others.at(other) + i * steps[last] + line * steps[across], steps[last],
                  steps[across], std::min(kTile, n - i), std::min(kTile, lines - line),
                  to + y_others.at(other) + i + line * strides[across], strides[across]);
      }
    });
  });
  return y;
}

void run_loop(const Tensor& out, std::initializer_list<const Tensor*> in, Loop loop, const void* f) {
  const size_t count = in.size();
  const Stream result(out, out.shape());
  std::array<Tensor, kMaxOperands> copies;
  std::array<Stream, kMaxOperands> operands;
  bool dense = result.dense;
  for (size_t i = 0; i < count; ++i) {
    const Tensor& x = *in.begin()[i];
    copies[i] = turned(x);
    operands[i] = Stream(copies[i].defined() ? copies[i] : x, out.shape());
    dense &= operands[i].dense;
  }
  const int64_t chunk = dense ? kBlock : kChunk;  // at once, where nothing goes through a buffer
  parallel_for(out.numel(), kBlock, [&](int64_t begin, int64_t end) {
    alignas(64) char buffers[kMaxOperands + 1][kChunk * sizeof(int64_t)];
    std::array<const void*, kMaxOperands> at;
    for (size_t i = 0; i < count; ++i) {
      at[i] = buffers[i];
      if (operands[i].one_value()) operands[i].move(true, begin, std::min(kChunk, end - begin), buffers[i]);
    }
    for (int64_t start = begin; start < end; start += chunk) {
      const int64_t n = std::min(chunk, end - start);
      for (size_t i = 0; i < count; ++i) {
        if (operands[i].dense)
          at[i] = operands[i].at(start);
        else if (!operands[i].one_value())
          operands[i].move(true, start, n, buffers[i]);
      }
      loop(f, n, result.dense ? result.at(start) : buffers[kMaxOperands], at.data());
      if (!result.dense) result.move(false, start, n, buffers[kMaxOperands]);
    }
  });
}

}  // namespace heed::kernel::detail
