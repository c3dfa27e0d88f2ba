#pragma once

#include "nn/module.h"

/// Attention does not know the order of its inputs; these layers tell it their positions. `offset` is that of
/// the first one: in cached decoding, how many came before.
namespace heed {

/// y = x + PE, with PE[p, 2i] = sin(p / 10000^(2i/E)), PE[p, 2i+1] = cos of the same (Vaswani et al., 2017).
///
///   x          [..., T, embed_dim]; an odd width ends with a sine
///   returns    same shape
///
/// PE[p + d] is PE[p] with each pair turned by an angle that depends on d alone. Any number of positions;
/// nothing in the state dict. The first positions are computed once and kept, for the dtype last asked for.
class SinusoidalPosition : public Layer<SinusoidalPosition> {
 public:
  /// embed_dim E is the width of x, and positive.
  explicit SinusoidalPosition(int64_t embed_dim) : embed_dim(embed_dim) {
    check(embed_dim > 0, "SinusoidalPosition: embed_dim is ", embed_dim, "; it must be positive");
  }
  /// x + PE from position `offset` on. Errors: another width, a negative offset.
  Tensor forward(const Tensor& x, int64_t offset = 0) const;
  /// PE at `length` positions from `offset` on: [length, embed_dim].
  Tensor table(int64_t length, int64_t offset = 0, DType dtype = float32) const;

  int64_t embed_dim;  ///< E

 private:
  /// The table of the first positions; a copy of the layer makes its own. Threads share it.
  struct Kept {
    Kept() = default;
    Kept(const Kept&) {}
    Kept& operator=(const Kept&) { return *this; }
    std::mutex lock;
    Tensor table;
  };
  mutable Kept kept_;
};

/// y = x + weight[p]: a learned vector for each of max_length positions.
///
///   x          [..., T, embed_dim]
///   returns    same shape
///
/// Start: normal with mean 0 and variance 1/2, as large as sinusoids are. Much smaller, positions are drowned
/// by the embeddings that they are added to, and learning is slow. State dict: weight.
struct LearnedPosition : Layer<LearnedPosition> {
  /// Positions 0 to max_length - 1, vectors as wide as x.
  LearnedPosition(int64_t max_length, int64_t embed_dim);
  /// x + weight from position `offset` on. Errors: another width, positions from max_length on.
  Tensor forward(const Tensor& x, int64_t offset = 0) const;
  void visit(Visitor& v) override { v("weight", weight); }

  Parameter weight;  ///< [max_length, embed_dim]
};

/// Turns each pair (x[2i], x[2i+1]) by the angle p / 10000^(2i/D) (Su et al., 2021). A product of a query and
/// a key turned so depends on their positions' distance only.
///
///   x          [..., T, dim], queries or keys of one head
///   returns    same shape
///
/// Any number of positions; nothing in the state dict.
struct RotaryPosition : Layer<RotaryPosition> {
  /// The width of a head, even.
  explicit RotaryPosition(int64_t dim) : dim(dim) {
    check(dim > 0 && dim % 2 == 0, "RotaryPosition: dim is ", dim,
          "; it must be even and positive: pairs are turned");
  }
  /// (a, b) becomes (a cos - b sin, b cos + a sin), the first position being `offset`. Errors: another width.
  Tensor forward(const Tensor& x, int64_t offset = 0) const;

  int64_t dim;  ///< D
};

}  // namespace heed
