#pragma once

#include "nn/attention/core.h"
#include "nn/attention/linear_attention.h"
#include "nn/layers/linear.h"
#include "nn/layers/norm.h"

/// Cores of MultiheadAttention whose past is a matrix for each head, or a few numbers for each channel. They
/// differ in how this state changes, and in where decay and beta come from:
///
///   MultiheadAttention attention(64, 8, {.core = DeltaNet(64, 8)});
///
/// They are constructed with the layer's width and number of heads. Position t reads the state after it,
/// except for LinearCore and Performer without is_causal. There are no weights, so there is no dropout of
/// them. Errors: options of scores, such as a bias or a window; a mask that does more than hide keys, as
/// padding [..., 1, Tk] does.
namespace heed {

/// F::linear_attention that continues from the state of the core, and leaves its own there. The mask is that
/// of the inputs. Your own core can end in it.
Tensor attend_with_state(const CoreInputs& in, const Tensor& query, const Tensor& key, const Tensor& value,
                         LinearAttentionOptions options = {});

/// phi(q)^T S / phi(q)^T z with positive features phi: S is the sum of phi(k) v^T, z that of phi(k)
/// (Katharopoulos et al., 2020). Without is_causal, the sums are over all keys.
struct LinearCore {
  Tensor operator()(const CoreInputs& in) const;

  std::function<Tensor(const Tensor&)> features = elu_plus_one;  ///< phi: [..., D] -> [..., any width]
};

/// LinearCore with random features that approximate softmax attention (Choromanski et al., 2020). State dict:
/// projection. Start: 2 D features.
struct Performer {
  Performer(int64_t embed_dim, int64_t num_heads)
      : projection(orthogonal_projection(2 * (embed_dim / num_heads), embed_dim / num_heads)) {}
  Tensor operator()(const CoreInputs& in) const {
    return LinearCore{[&](const Tensor& x) { return positive_random_features(x, projection); }}(in);
  }
  void visit(Visitor& v) { v("projection", projection); }

  Buffer projection;  ///< [features, D]
};

/// The last step of the next cores: each head's output is normalized and multiplied by silu(g_proj(x)).
struct GatedNorm {
  GatedNorm(int64_t embed_dim, int64_t num_heads)
      : g_proj(embed_dim, embed_dim, {.bias = false}), g_norm(embed_dim / num_heads, {.eps = 1e-5}) {}
  Tensor gated(const Tensor& heads, const CoreInputs& in) const;
  void visit(Visitor& v) { v("g_proj", g_proj, "g_norm", g_norm); }

  Linear g_proj;   ///< [E, E]
  RMSNorm g_norm;  ///< [D]
};

/// log(1 - 2^(-5 - h)) for the heads h = 0, 1, ...: the decays of retention, [H, 1, 1].
Tensor retention_decay(int64_t num_heads, DType dtype = float32);

/// The rule `gated` with one fixed decay for each head, retention_decay (Sun et al., 2023). The paper also
/// rotates queries and keys: give MultiheadAttention the option rotary too. State dict: g_proj.weight,
/// g_norm.weight.
struct Retention : GatedNorm {
  using GatedNorm::GatedNorm;
  Tensor operator()(const CoreInputs& in) const;
};

/// The rule `gated` with a decay for each key, computed from the input by a map of rank 16: g = log
/// sigmoid(gk_proj(x)) / 16 (Yang et al., 2023). State dict: gk_proj.0.weight, gk_proj.1.weight,
/// gk_proj.1.bias, g_proj.weight, g_norm.weight.
struct GatedLinearAttention : GatedNorm {
  GatedLinearAttention(int64_t embed_dim, int64_t num_heads)
      : GatedNorm(embed_dim, num_heads), gk_proj{{embed_dim, 16, {.bias = false}}, {16, embed_dim}} {}
  Tensor operator()(const CoreInputs& in) const;
  void visit(Visitor& v) { v("gk_proj", gk_proj, "", static_cast<GatedNorm&>(*this)); }

  std::vector<Linear> gk_proj;  ///< [16, E] without bias, and [E, 16]
};

/// The rule `delta` with beta = sigmoid(b_proj(x)), and with queries and keys silu(q) / |silu(q)|: what is
/// written to a key of length 1 replaces what was there (Yang et al., 2024). State dict: b_proj.weight,
/// g_proj.weight, g_norm.weight.
struct DeltaNet : GatedNorm {
  DeltaNet(int64_t embed_dim, int64_t num_heads)
      : GatedNorm(embed_dim, num_heads), b_proj(embed_dim, num_heads, {.bias = false}) {}
  Tensor operator()(const CoreInputs& in) const { return attend(in, {}); }
  void visit(Visitor& v) { v("b_proj", b_proj, "", static_cast<GatedNorm&>(*this)); }

  Linear b_proj;  ///< [H, E]

 protected:
  Tensor attend(const CoreInputs& in, const Tensor& decay) const;
};

/// A decay from the input: g = -e^A_log dt with the time step dt = softplus(dt_proj(x) + dt_bias), for each
/// head. Start: e^A_log uniform in [1, 16), softplus(dt_bias) log-uniform in [0.001, 0.1).
struct InputDecay {
  InputDecay(int64_t embed_dim, int64_t num_heads);
  Tensor time_steps(const Tensor& x) const;   ///< dt: [B, H, T, 1]
  Tensor operator()(const Tensor& dt) const;  ///< g: [B, H, T, 1]
  void visit(Visitor& v) { v("dt_proj", dt_proj, "dt_bias", dt_bias, "A_log", A_log); }

  Linear dt_proj;            ///< [H, E]
  Parameter dt_bias, A_log;  ///< [H]
};

/// DeltaNet with the rule `gated_delta` (Yang, Kautz and Hatamizadeh, 2024). State dict: that of DeltaNet,
/// and dt_proj.weight, dt_bias, A_log.
struct GatedDeltaNet : DeltaNet {
  GatedDeltaNet(int64_t embed_dim, int64_t num_heads)
      : DeltaNet(embed_dim, num_heads), decay(embed_dim, num_heads) {}
  Tensor operator()(const CoreInputs& in) const { return attend(in, decay(decay.time_steps(in.x))); }
  void visit(Visitor& v) { v("", static_cast<DeltaNet&>(*this), "", decay); }

  InputDecay decay;
};

/// A selective state space, as in Mamba-2 but without its convolution (Dao and Gu, 2024): the state of a
/// linear system whose time step depends on the input. With the value as the system's input, the key as B and
/// the query as C it is the rule `gated`:
///
///   S_t = e^{-A dt} S_{t-1} + k_t (dt v_t)^T,  y_t = S_t^T q_t + D v_t
///
/// State dict: dt_proj.weight, dt_bias, A_log, D, g_proj.weight, g_norm.weight. Start: D one.
struct StateSpace : GatedNorm {
  StateSpace(int64_t embed_dim, int64_t num_heads)
      : GatedNorm(embed_dim, num_heads), decay(embed_dim, num_heads), D(init::ones({num_heads})) {}
  Tensor operator()(const CoreInputs& in) const;
  void visit(Visitor& v) { v("", decay, "D", D, "", static_cast<GatedNorm&>(*this)); }

  InputDecay decay;
  Parameter D;  ///< [H]
};

/// sigmoid(q) wkv(k, v): the time mixing of RWKV without its shift of inputs (Peng et al., 2023). Queries are
/// gates, and each channel has a state of two numbers. State dict: time_decay, the logarithm of wkv's decay,
/// and time_first, its bonus. Start: decays of e^-5 to e^3, bonus log 0.3.
struct Rwkv {
  Rwkv(int64_t embed_dim, int64_t num_heads);
  Tensor operator()(const CoreInputs& in) const;
  void visit(Visitor& v) { v("time_decay", time_decay, "time_first", time_first); }

  Parameter time_decay, time_first;  ///< [H, D]
};

}  // namespace heed
