#pragma once

#include <mutex>

#include "nn/init.h"
#include "nn/module.h"

/// Encodings of positions, since attention does not see the order of its inputs. `offset` is the position of
/// the first input: in cached decoding, the number of cached positions.
namespace heed {

/// y = x + PE, with PE[p, 2i] = sin(p / 10000^(2i/E)), PE[p, 2i+1] = cos of the same (Vaswani et al., 2017).
///
///   x          [..., T, embed_dim]; an odd width ends with a sine
///   returns    same shape
///
/// PE[p + d] is PE[p] with each pair rotated by an angle that depends on d alone. The number of positions is
/// not limited; the first ones are cached, in the dtype of the last call. No state dict. Thread-safe. Errors:
/// embed_dim that is not positive; x of another width; a negative offset.
class SinusoidalPosition : public Layer<SinusoidalPosition> {
 public:
  explicit SinusoidalPosition(int64_t width) : embed_dim(width) {
    check_in("SinusoidalPosition", embed_dim > 0, "embed_dim is ", embed_dim, "; it must be positive");
  }
  Tensor forward(const Tensor& x, int64_t offset = 0) const;
  /// PE[offset] to PE[offset + length - 1]: [length, embed_dim].
  Tensor table(int64_t length, int64_t offset = 0, DType dtype = float32) const;

  int64_t embed_dim;  ///< E

 private:
  // PE of the first positions. A copy of the layer computes its own.
  struct Cache {
    Cache() = default;
    Cache(const Cache&) {}
    Cache& operator=(const Cache&) { return *this; }
    std::mutex lock;
    Tensor table;
  };
  mutable Cache cache_;
};

/// y = x + weight[p], with a learned vector for each of max_length positions.
///
///   x          [..., T, embed_dim]
///   returns    same shape
///
/// Start: normal with mean 0 and variance 1/2, the variance of sinusoids. With a much smaller variance the
/// embeddings would dominate the positions, and learning would be slow. State dict: weight. Errors: x of
/// another width; positions from max_length on.
struct LearnedPosition : Layer<LearnedPosition> {
  LearnedPosition(int64_t max_length, int64_t embed_dim)
      : weight(init::normal({max_length, embed_dim}, 0, std::sqrt(0.5))) {}
  Tensor forward(const Tensor& x, int64_t offset = 0) const;
  void visit(Visitor& v) override { v("weight", weight); }

  Parameter weight;  ///< [max_length, embed_dim]
};

/// Options of RotaryPosition. The last two serve sequences that are longer than those of training.
struct RotaryOptions {
  double base = 10000;
  double position_factor = 1;  ///< Positions are divided by it: interpolation (Chen et al., 2023).
  /// The base is multiplied by ntk_factor^(D / (D - 2)): the slowest pair is slower by this factor and the
  /// fastest stays ("NTK-aware" scaling). Must be 1 if D is 2.
  double ntk_factor = 1;
};

/// Rotates each pair (a, b) = (x[2i], x[2i+1]) to (a cos - b sin, b cos + a sin) with the angle p /
/// base^(2i/D) (Su et al., 2021). The dot product of a rotated query and a rotated key depends on positions
/// only through their distance.
///
///   x          [..., T, dim], queries or keys of one head of width D = dim
///   returns    same shape
///
/// The number of positions is not limited. No state dict. Errors: an odd dim; options that are not positive;
/// x of another width; a negative offset.
struct RotaryPosition : Layer<RotaryPosition> {
  explicit RotaryPosition(int64_t width, RotaryOptions options = {});
  Tensor forward(const Tensor& x, int64_t offset = 0) const;

  int64_t dim;
  RotaryOptions options;
};

namespace detail {
/// p / base^(2i/width) for the positions p, [T], and the pairs i: [T, ceil(width / 2)]. In float64, since p
/// may be large.
Tensor angles(const Tensor& positions, int64_t width, double base = 10000);
}  // namespace detail

}  // namespace heed
