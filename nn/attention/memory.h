#pragma once

#include "nn/attention/core.h"
#include "nn/attention/pooling.h"

/// Attention to a memory: modern Hopfield networks, the nearest keys alone, and the three stages of attention
/// in each head.
namespace heed {

/// Options of F::hopfield_retrieve.
struct HopfieldOptions {
  std::optional<double> beta = {};  ///< sharpness; by default 1 / sqrt(D)
  int64_t max_steps = 100;          ///< updates at most
  double tolerance = 1e-6;          ///< ends when no number of a state changes by more
  Tensor mask = {};                 ///< bool, broadcasts to [..., S, N]; true = may be retrieved
};

namespace F {

/// The stored patterns that states settle at: repeats xi = softmax(beta xi X^T) X until xi is a fixed point
/// (Ramsauer et al., 2020). One update is attention in which keys are values. A large beta retrieves the
/// nearest pattern, a small one a mean of several.
///
///   state      [..., S, D]    xi: one state pattern in each row
///   patterns   [..., N, D]    X: the stored patterns
///   returns    [..., S, D]
///
/// The gradient flows through all updates. Errors: as in scaled_dot_product_attention.
Tensor hopfield_retrieve(Operand state, Operand patterns, const HopfieldOptions& options = {});

}  // namespace F

/// Keys and values of all positions.
struct AllKeys {
  Tensor keys, values;  ///< [B, H, Tk, D]
  Mask mask;            ///< for scores [B, H, Tq, Tk], is_causal included
};
/// Those of a core whose state they are, the new ones included. Errors: a bias.
AllKeys keep_keys(const CoreInputs& in);

/// A core: queries are states that settle among the keys; then they attend with this beta. With max_steps = 1
/// it is softmax attention, which is the first update (Ramsauer et al., 2020). Errors: a bias.
struct Hopfield {
  Tensor operator()(const CoreInputs& in) const;

  HopfieldOptions options = {.max_steps = 3};
};

/// A core: the three stages of AttentionPooling in each head, with any score and normaliser:
///
///   MultiheadAttention attention(64, 8, {.core = PoolingCore{AttentionPooling(ScaledDotScore(),
///                                                                             NearestNormaliser{8})}});
///
/// Errors: a bias.
template <class Pooling>
struct PoolingCore {
  Tensor operator()(const CoreInputs& in) const {
    const AllKeys all = keep_keys(in);
    return pooling(in.q, all.keys, all.values, all.mask).output;
  }
  void visit(Visitor& v) { pooling.visit(v); }

  Pooling pooling;
};
/// Deduces the type of the pooling.
template <class Pooling>
PoolingCore(Pooling) -> PoolingCore<Pooling>;

/// A normaliser: softmax over the `neighbors` largest scores of each query, and 0 for the other keys, as in a
/// lookup of nearest neighbors (Wu et al., 2022). The choice is exact. The gradient flows through the chosen
/// scores. With GaussianScore the nearest keys are those of the smallest distance.
struct NearestNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const;

  int64_t neighbors = 32;
};

}  // namespace heed
