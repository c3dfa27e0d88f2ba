#include "tensor/kernels/loop.h"

#include <algorithm>
#include <cstring>

#include "tensor/parallel.h"

namespace heed::kernel::detail {
namespace {

constexpr size_t kMost = 3;      // operands
constexpr int64_t kChunk = 512;  // elements in a buffer

char* first_of(const Tensor& x) {
  const TensorBody& body = x.body();
  return reinterpret_cast<char*>(body.storage->data) + body.offset * size_of(body.dtype);
}

// Moves n elements between memory, where they stand `step` apart, and a buffer.
template <class Word>
void move(bool gather, void* memory, int64_t step, void* buffer, int64_t n) {
  auto* far = static_cast<Word*>(memory);
  auto* near = static_cast<Word*>(buffer);
  if (!gather)
    for (int64_t i = 0; i < n; ++i) far[i * step] = near[i];
  else if (step == 0)
    std::fill_n(near, n, *far);
  else if (step == 1)
    std::copy_n(far, n, near);
  else
    for (int64_t i = 0; i < n; ++i) near[i] = far[i * step];
}

// A tensor as an operand, or the result: its elements in the row-major order of the result's shape.
class Stream {
 public:
  Stream() = default;
  Stream(const Tensor& x, const Shape& shape) : first_(first_of(x)), width_(size_of(x.dtype())) {
    dense_ = x.is_contiguous() && x.shape() == shape;
    if (dense_) return;
    const int64_t lead = shape.rank() - x.dim();
    for (int64_t d = 0; d < shape.rank(); ++d)
      lattice_.add(shape[d], d < lead || x.shape()[d - lead] == 1 ? 0 : x.strides()[d - lead]);
    dense_ = lattice_.sizes.rank() == 1 && lattice_.inner_step() == 1;
  }

  bool dense() const { return dense_; }
  bool one_value() const { return !dense_ && lattice_.sizes.rank() <= 1 && lattice_.inner_step() == 0; }
  char* at(int64_t index) const { return first_ + index * width_; }
  /// Elements [begin, begin + n) to the buffer, or back.
  void move(bool gather, int64_t begin, int64_t n, void* buffer) const {
    const auto move_words = width_ == 4   ? &detail::move<uint32_t>
                            : width_ == 8 ? &detail::move<uint64_t>
                                          : &detail::move<uint8_t>;
    const int64_t size = lattice_.inner_size(), step = lattice_.inner_step(),
                  outer = lattice_.sizes.rank() - 1;
    int64_t offset = lattice_.offset(begin / size), start = begin % size;
    Shape at = Shape::filled(std::max<int64_t>(outer, 0), 0);
    for (int64_t d = outer - 1, left = begin / size; d >= 0; left /= lattice_.sizes[d--])
      at[d] = left % lattice_.sizes[d];
    for (auto* to = static_cast<char*>(buffer); n > 0; start = 0) {
      const int64_t count = std::min(n, size - start);
      move_words(gather, first_ + (offset + start * step) * width_, step, to, count);
      to += count * width_;
      n -= count;
      for (int64_t d = outer - 1; d >= 0; --d) {
        offset += lattice_.steps[d];
        if (++at[d] < lattice_.sizes[d]) break;
        offset -= lattice_.steps[d] * at[d];
        at[d] = 0;
      }
    }
  }

 private:
  char* first_ = nullptr;
  int64_t width_ = 0;
  bool dense_ = true;
  Lattice lattice_;
};

}  // namespace

void run_loop(const Tensor& out, std::initializer_list<const Tensor*> in, Loop loop, const void* f) {
  const int64_t total = out.numel();
  if (total == 0) return;
  const size_t count = in.size();
  bool dense = out.is_contiguous();
  for (const Tensor* x : in) dense = dense && x->shape() == out.shape() && x->is_contiguous();

  if (dense) {  // the usual case, tested first
    std::array<const char*, kMost> first;
    std::array<int64_t, kMost> width;
    size_t k = 0;
    for (const Tensor* x : in) {
      first[k] = first_of(*x);
      width[k++] = size_of(x->dtype());
    }
    char* result = first_of(out);
    return parallel_for(total, kBlock, [&](int64_t begin, int64_t end) {
      std::array<const void*, kMost> at;
      for (size_t i = 0; i < count; ++i) at[i] = first[i] + begin * width[i];
      loop(f, end - begin, result + begin * size_of(out.dtype()), at.data());
    });
  }

  const Stream result(out, out.shape());
  std::array<Stream, kMost> operands;
  std::transform(in.begin(), in.end(), operands.begin(),
                 [&](const Tensor* x) { return Stream(*x, out.shape()); });
  parallel_for(total, kBlock, [&](int64_t begin, int64_t end) {
    alignas(64) char buffers[kMost + 1][kChunk * sizeof(int64_t)];
    std::array<const void*, kMost> at;
    for (size_t i = 0; i < count; ++i) {
      at[i] = buffers[i];
      if (operands[i].one_value()) operands[i].move(true, begin, std::min(kChunk, end - begin), buffers[i]);
    }
    for (int64_t start = begin; start < end; start += kChunk) {
      const int64_t n = std::min(kChunk, end - start);
      for (size_t i = 0; i < count; ++i) {
        if (operands[i].dense())
          at[i] = operands[i].at(start);
        else if (!operands[i].one_value())
          operands[i].move(true, start, n, buffers[i]);
      }
      loop(f, n, result.dense() ? result.at(start) : buffers[kMost], at.data());
      if (!result.dense()) result.move(false, start, n, buffers[kMost]);
    }
  });
}

}  // namespace heed::kernel::detail
