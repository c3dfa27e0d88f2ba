#pragma once

#include "nn/attention/mask.h"
#include "tensor/random.h"

/// Attention without a softmax: what a query needs of all earlier keys and values is in one matrix, the
/// state, so time and memory grow linearly with the length.
namespace heed {

/// How position t changes the state S [D, Dv]. g_t is its decay, beta_t how much of the value is written.
enum class LinearRule {
  linear,       ///< S_t = S_{t-1} + k_t v_t^T (Katharopoulos et al., 2020)
  gated,        ///< S_t = e^{g_t} S_{t-1} + k_t v_t^T (Yang et al., 2023)
  delta,        ///< S_t = S_{t-1} + beta_t k_t (v_t - S_{t-1}^T k_t)^T (Schlag, Irie and Schmidhuber, 2021)
  gated_delta,  ///< delta, after S_{t-1} became e^{g_t} S_{t-1} (Yang, Kautz and Hatamizadeh, 2024)
};

/// Options of F::linear_attention.
struct LinearAttentionOptions {
  LinearRule rule = LinearRule::linear;
  Tensor decay = {};  ///< g, at most 0, of the gated rules: [..., H, T, D], or [..., H, T, 1] for all keys
  Tensor beta = {};   ///< of the delta rules: [..., H, T, 1]
  Tensor mask = {};   ///< bool [..., 1, T]: the state ignores positions where it is false
  Tensor state = {};  ///< S before the first position: [..., H, D, Dv]; 0 by default
  std::optional<double> scale = {};  ///< factor of the output; by default 1 / sqrt(D)
  bool is_causal = true;             ///< position t reads S_t; otherwise S_T, only with the rule `linear`
  bool normalize = false;            ///< divide by q_t . z_t, z_t being the state of values that are all 1
  int64_t chunk = 64;                ///< positions that are computed together; does not change the result
};

/// What F::linear_attention returns.
struct LinearAttentionResult {
  Tensor output;  ///< [..., Hq, T, Dv]
  Tensor state;   ///< S after the last position: the state of a call that continues; with z [..., D, Dv + 1]
  /// The tensors, for the hooks of modules.
  std::array<Tensor*, 2> tensors() { return {&output, &state}; }
};

/// elu(x) + 1: the positive features of Katharopoulos et al., 2020.
Tensor elu_plus_one(const Tensor& x);
/// exp(w . x' - |x'|^2 / 2) / sqrt(m) for each of m rows w of the projection, with x' = x / D^(1/4). For
/// normal w the mean of the products of two features is exp(q . k / sqrt(D)), so normalized linear attention
/// approaches softmax attention as m grows: FAVOR+ (Choromanski et al., 2020).
///
///   x            [..., D]
///   projection   [m, D]
///   returns      [..., m]
Tensor positive_random_features(const Tensor& x, const Tensor& projection);
/// Normal vectors, [features, dim], of which each `dim` are orthogonal: a projection of smaller variance.
Tensor orthogonal_projection(int64_t features, int64_t dim, Generator* generator = nullptr);

namespace F {

using heed::LinearAttentionOptions;

/// y_t = scale S_t^T q_t: attention with a state. The rules and their numbers are those of ONNX's
/// LinearAttention.
///
///   query      [..., Hq, T, D]    Hq is a multiple of H: so many query heads share a state
///   key        [..., H, T, D]     without is_causal, keys and values may have another length
///   value      [..., H, T, Dv]
///   returns    output [..., Hq, T, Dv] and the state [..., H, D, Dv]
///
/// Computes `chunk` positions at a time by matrix products (Yang et al., 2023 and 2024). One position at a
/// time, each call with the state of the one before, gives the same. Without is_causal, keys and values may
/// be undefined if there is a state. A decay below -100 counts as -100. With `normalize`, a query that no key
/// matches gives 0. Errors: other shapes; a rule without its decay or beta, or with one that it does not use.
LinearAttentionResult linear_attention(Operand query, Operand key, Operand value,
                                       const LinearAttentionOptions& options = {});

/// The attention of RWKV (Peng et al., 2023): for each channel a mean of the values, weighted by exp(key),
/// which fades by the factor e^-decay a step; the current position has the extra factor e^bonus.
///
///   y_t = (sum_{i<t} e^{k_i - (t-1-i) decay} v_i + e^{bonus + k_t} v_t) / (the same with 1 for each v)
///
///   key, value    [..., T, C]
///   decay, bonus  broadcast to [..., C]; the decay is not negative
///   state         that of the call before, [..., 3, C]: both sums, and m, in units of whose e^m they are
///   returns       output [..., T, C] and the state
///
/// Large keys do not overflow. Errors: other shapes.
LinearAttentionResult wkv(Operand key, Operand value, Operand decay, Operand bonus, const Tensor& state = {});

}  // namespace F
}  // namespace heed
