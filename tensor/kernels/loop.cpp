#include "tensor/kernels/loop.h"

#include "tensor/parallel.h"

namespace heed::kernel::detail {
namespace {

constexpr size_t kMost = 4;  // the result and three operands

char* first_of(const Tensor& x) {
  const TensorBody& body = x.body();
  return reinterpret_cast<char*>(body.storage->data) + body.offset * size_of(body.dtype);
}

// The result's dimensions with the steps of every operand along each. Dimensions of size 1 are left out and
// neighbours that are one run of memory for every operand are merged, so that what is left is short.
struct Lattice {
  Shape sizes;
  std::array<Strides, kMost> steps;
};

Lattice merge(const Tensor& out, std::initializer_list<const Tensor*> in) {
  std::array<const Tensor*, kMost> tensors{&out};
  std::copy(in.begin(), in.end(), tensors.begin() + 1);
  const size_t count = in.size() + 1;
  const int64_t rank = out.dim();
  Lattice lattice;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t size = out.shape()[d];
    if (size == 1) continue;
    std::array<int64_t, kMost> step{};
    for (size_t k = 0; k < count; ++k) {
      const int64_t own = d - (rank - tensors[k]->dim());
      step[k] = own < 0 || tensors[k]->shape()[own] == 1 ? 0 : tensors[k]->strides()[own];
    }
    const int64_t last = lattice.sizes.rank() - 1;
    bool joins = last >= 0;
    for (size_t k = 0; k < count && joins; ++k) joins = lattice.steps[k][last] == step[k] * size;
    if (joins)
      lattice.sizes[last] *= size;
    else
      lattice.sizes.push_back(size);
    for (size_t k = 0; k < count; ++k) {
      if (joins)
        lattice.steps[k][last] = step[k];
      else
        lattice.steps[k].push_back(step[k]);
    }
  }
  return lattice;
}

}  // namespace

void run_lines(const Tensor& out, std::initializer_list<const Tensor*> in, Line line, const void* f) {
  const int64_t total = out.numel();
  if (total == 0) return;
  const size_t count = in.size() + 1;
  std::array<char*, kMost> first{first_of(out)};
  std::array<int64_t, kMost> width{size_of(out.dtype())};
  bool same = out.is_contiguous();
  size_t k = 1;
  for (const Tensor* x : in) {
    first[k] = first_of(*x);
    width[k++] = size_of(x->dtype());
    same = same && x->shape() == out.shape() && x->is_contiguous();
  }

  if (same) {  // one line of everything
    constexpr std::array<int64_t, kMost> ones{1, 1, 1, 1};
    return parallel_for(total, kBlock, [&](int64_t begin, int64_t end) {
      std::array<char*, kMost> at;
      for (size_t i = 0; i < count; ++i) at[i] = first[i] + begin * width[i];
      line(f, end - begin, at.data(), ones.data());
    });
  }

  const Lattice lattice = merge(out, in);
  const int64_t outer = std::max<int64_t>(lattice.sizes.rank() - 1, 0);
  const int64_t n = lattice.sizes.empty() ? 1 : lattice.sizes.back();
  std::array<int64_t, kMost> step{};
  for (size_t i = 0; i < count; ++i) step[i] = lattice.sizes.empty() ? 0 : lattice.steps[i][outer];

  // Lines are cut into pieces when there are few of them, and taken several at a time when they are short.
  const int64_t lines = total / n;
  const int64_t pieces = (n + kBlock - 1) / kBlock;
  const int64_t lines_at_once = std::max<int64_t>(1, kBlock / n);
  parallel_for(lines * pieces, lines_at_once, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t start = item % pieces * kBlock;
      std::array<int64_t, kMost> offset{};
      for (size_t i = 0; i < count; ++i) offset[i] = start * step[i];
      int64_t left = item / pieces;
      for (int64_t d = outer - 1; d >= 0; --d) {
        const int64_t position = left % lattice.sizes[d];
        left /= lattice.sizes[d];
        for (size_t i = 0; i < count; ++i) offset[i] += position * lattice.steps[i][d];
      }
      std::array<char*, kMost> at;
      for (size_t i = 0; i < count; ++i) at[i] = first[i] + offset[i] * width[i];
      line(f, std::min(kBlock, n - start), at.data(), step.data());
    }
  });
}

}  // namespace heed::kernel::detail
