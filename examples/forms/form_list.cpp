#include "examples/forms/form_list.h"

#include <algorithm>

#include "tensor/table.h"
#include "tensor/utf8.h"

namespace program {
namespace {

using namespace heed;
using Options = MultiheadAttentionOptions;

// Attention in three stages, of which one is exchanged.
AnyCore stages(const auto& score, const auto& normaliser) {
  return PoolingCore{AttentionPooling(score, normaliser)};
}

// Softmax over the keys that a mask of positions allows too; make(queries, past) makes the mask.
Options masked(const std::function<Mask(int64_t, int64_t)>& make) {
  const auto normaliser = [make](const Tensor& scores, const Mask& mask) {
    const int64_t queries = scores.size(-2);
    return SoftmaxNormaliser()(scores, mask & make(queries, scores.size(-1) - queries));
  };
  return {.rotary = true, .core = stages(ScaledDotScore(), normaliser)};
}

// Sampled in the last layer, whose choices decide about the answer of their own query alone.
Options sampled_in_last(const FormPlace& p) {
  if (p.layer + 1 < p.layers) return {.rotary = true};
  return {.rotary = true, .core = stages(ScaledDotScore(), SampledNormaliser{p.choices})};
}

std::vector<Form> make_forms() {
  using P = FormPlace;
  constexpr auto learned = FormPositions::learned, sinusoidal = FormPositions::sinusoidal;
  return {
      // Positions.
      {"softmax", "softmax(q · k / √d), queries and keys rotated by their positions",
       [](const P&) -> Options { return {.rotary = true}; }},
      {"rotary_scaled", "rotary, with positions divided by 2 and a larger base",
       [](const P&) -> Options {
         return {.rotary = true, .rotary_scaling = {.position_factor = 2, .ntk_factor = 2}};
       }},
      {"nope", "no positions: only the causal mask tells the order", [](const P&) { return Options(); }},
      {"learned", "a learned vector for each position is added to the inputs",
       [](const P&) { return Options(); }, learned},
      {"sinusoidal", "sines and cosines of the position are added to the inputs",
       [](const P&) { return Options(); }, sinusoidal},
      {"alibi", "a bias that falls with the distance, -mₕ (i - j)",
       [](const P& p) -> Options { return {.position_bias = AlibiBias(p.heads)}; }},
      {"t5", "a learned bias for each bucket of distances",
       [](const P& p) -> Options { return {.position_bias = T5Bias(p.heads, {.bidirectional = false})}; }},
      {"shaw", "a learned key for each distance, q · (k + a)",
       [](const P& p) -> Options { return {.relative_score = ShawScore(p.width / p.heads, 16)}; },
       FormPositions::none, 2, 2},
      {"xl", "content and sinusoids of the distance, as in Transformer-XL",
       [](const P& p) -> Options { return {.relative_score = TransformerXLScore(p.width, p.heads)}; },
       FormPositions::none, 2, 2},

      // Heads.
      {"multi_query", "one head of keys and values for all heads of queries",
       [](const P&) -> Options { return {.rotary = true, .num_kv_heads = 1}; }},
      {"grouped", "a head of keys and values for each two heads of queries",
       [](const P& p) -> Options { return {.rotary = true, .num_kv_heads = p.heads / 2}; }},
      {"latent", "keys and values are maps of one narrow vector, which is all that a cache keeps",
       [](const P& p) -> Options { return {.latent_dim = p.width / 2, .latent_rotary_dim = 4}; }},
      {"head_gate", "the output of each head times a sigmoid of the input",
       [](const P&) -> Options { return {.rotary = true, .gate = HeadGate::headwise}; }},
      {"talking", "learned mixtures of the heads' scores and of their weights",
       [](const P&) -> Options { return {.rotary = true, .talking_heads = true}; }, FormPositions::none, 2,
       2},
      {"differential", "the difference of two softmaxes",
       [](const P& p) -> Options {
         return {.rotary = true,
                 .differential = true,
                 .lambda_init = 0.8 - 0.6 * std::exp(-0.3 * double(p.layer))};
       }},

      // Scores.
      {"qk_norm", "queries and keys of one length, with a learned scale",
       [](const P&) -> Options { return {.rotary = true, .qk_norm = 10}; }},
      {"cosine", "a learned number times the cosine of query and key",
       [](const P&) -> Options {
         return {.rotary = true, .core = stages(CosineScore(10), SoftmaxNormaliser())};
       },
       FormPositions::none, 2, 2},
      {"soft_cap", "scores are bounded, c tanh(s / c)",
       [](const P&) -> Options { return {.rotary = true, .soft_cap = 10}; }},

      // Masks, sinks and memories.
      {"window", "only the last 16 keys", [](const P&) -> Options { return {.rotary = true, .window = 16}; },
       FormPositions::none, 1, 1},
      {"window_sinks", "the last 16 keys and the first two",
       [](const P&) -> Options { return {.rotary = true, .window = 16, .sinks = 2}; }, FormPositions::none, 1,
       1},
      {"blocks", "only the keys of the query's own block of 16",
       [](const P&) {
         return masked([](int64_t queries, int64_t past) { return Mask::blocks(queries, 16, past); });
       },
       FormPositions::none, 2, 2},
      {"dilated", "every second of the last 32 keys",
       [](const P&) {
         return masked([](int64_t queries, int64_t past) {
           return Mask::dilated(queries, 2, past) & Mask::window(queries, 31, 0, past);
         });
       },
       FormPositions::none, 2, 2},
      {"sink_logit", "a learned term more in the sum that weights are divided by",
       [](const P&) -> Options { return {.rotary = true, .sink_logit = true}; }},
      {"memory", "four learned keys and values before all others",
       [](const P&) -> Options { return {.rotary = true, .memory_tokens = 4}; }},
      {"hopfield", "the query settles among the keys for three steps before it reads",
       [](const P&) -> Options { return {.rotary = true, .core = Hopfield()}; }},

      // Normalizers.
      {"sigmoid", "each weight is a sigmoid of its own score",
       [](const P&) -> Options {
         return {.rotary = true, .core = stages(ScaledDotScore(), SigmoidNormaliser())};
       },
       FormPositions::none, 2, 2},
      {"entmax", "1.5-entmax: most weights are exactly 0",
       [](const P&) -> Options {
         return {.rotary = true, .core = stages(ScaledDotScore(), EntmaxNormaliser())};
       },
       FormPositions::none, 2, 2},
      {"sparsemax", "weights are scores above a threshold",
       [](const P&) -> Options {
         return {.rotary = true, .core = stages(ScaledDotScore(), SparsemaxNormaliser())};
       },
       FormPositions::none, 2, 2},
      {"nearest", "softmax over the four largest scores",
       [](const P&) -> Options {
         return {.rotary = true, .core = stages(ScaledDotScore(), NearestNormaliser{4})};
       },
       FormPositions::none, 2, 2},
      {"gumbel", "softmax of scores with Gumbel noise",
       [](const P&) -> Options {
         return {.rotary = true, .core = stages(ScaledDotScore(), GumbelNormaliser())};
       },
       FormPositions::none, 2, 2},
      {"monotonic", "each query begins where the one before stopped, and passes over keys",
       [](const P&) -> Options {
         return {.rotary = true, .core = stages(ScaledDotScore(), MonotonicNormaliser())};
       },
       FormPositions::none, 2, 2},
      {"hard", "one sampled key, without a baseline", sampled_in_last, FormPositions::none, 2, 2, true},
      {"hard_baseline", "one sampled key, rewarded against the mean of earlier rewards", sampled_in_last,
       FormPositions::none, 2, 2, true, true},

      // A state instead of scores.
      {"linear", "S += φ(k) vᵀ, read by φ(q) and normalized; φ = elu + 1",
       [](const P&) -> Options { return {.core = LinearCore()}; }, learned, 1, 1},
      {"performer", "linear, with random features that approximate softmax",
       [](const P& p) -> Options { return {.core = Performer(p.width, p.heads)}; }, learned, 1, 1},
      {"retention", "S = γₕ S + k vᵀ with a fixed decay for each head",
       [](const P& p) -> Options { return {.rotary = true, .core = Retention(p.width, p.heads)}; },
       FormPositions::none, 1, 1},
      {"gated", "S = diag(gₜ) S + k vᵀ with decays from the input",
       [](const P& p) -> Options { return {.core = GatedLinearAttention(p.width, p.heads)}; },
       FormPositions::none, 1, 1},
      {"delta", "S += β k (v - Sᵀ k)ᵀ: a write replaces what its key held",
       [](const P& p) -> Options { return {.core = DeltaNet(p.width, p.heads)}; }, FormPositions::none, 1, 1},
      {"gated_delta", "delta, after S has faded by a decay from the input",
       [](const P& p) -> Options { return {.core = GatedDeltaNet(p.width, p.heads)}; }, FormPositions::none,
       1, 1},
      {"state_space", "a linear system whose time step depends on the input",
       [](const P& p) -> Options { return {.core = StateSpace(p.width, p.heads)}; }, FormPositions::none, 1,
       1},
      {"rwkv", "a fading mean of the values weighted by exp(k), for each channel",
       [](const P& p) -> Options { return {.core = Rwkv(p.width, p.heads)}; }, FormPositions::none, 1, 1},
  };
}

}  // namespace

const std::vector<Form>& all_forms() {
  static const std::vector<Form> forms = make_forms();
  return forms;
}

const Form& find_form(const std::string& name) {
  std::vector<std::string> names;
  for (const Form& form : all_forms()) {
    if (form.name == name) return form;
    names.push_back(form.name);
  }
  check(false, "--form is ", printable(name), "; it must be all, or some of ", detail::listed(names));
  return all_forms().front();
}

Tensor SampledNormaliser::operator()(const Tensor& scores, const Mask& mask) const {
  if (!grad_enabled()) return NearestNormaliser{1}(scores, mask);
  const HardSample sample = sample_hard(scores, mask);
  choices->log_prob = sample.log_prob;
  return sample.weights;
}

}  // namespace program
