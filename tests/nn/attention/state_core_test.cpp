#include "nn/attention/state_core.h"

#include "autograd/ops/elementary.h"
#include "nn/debug/check_module.h"
#include "nn/transformer/transformer.h"
#include "tests/support/expect.h"

using test::names;

namespace {

// Every core for a layer of this width and number of heads.
std::vector<std::pair<std::string, AnyCore>> cores(int64_t E, int64_t H) {
  return {{"LinearCore", LinearCore()},     {"Performer", Performer(E, H)},
          {"Retention", Retention(E, H)},   {"GatedLinearAttention", GatedLinearAttention(E, H)},
          {"DeltaNet", DeltaNet(E, H)},     {"GatedDeltaNet", GatedDeltaNet(E, H)},
          {"StateSpace", StateSpace(E, H)}, {"Rwkv", Rwkv(E, H)}};
}
const AttentionOptions kCausal{.is_causal = true};

Tensor sines(const Shape& shape, double a, double b) { return sin(counted(shape, float64) * a + b); }

}  // namespace

TEST_CASE(
    "cores with a state: step by step with a cache equals all at once; later inputs have no influence") {
  manual_seed(1);
  for (const auto& [name, core] : cores(8, 2)) {
    CAPTURE(name);
    const MultiheadAttention attention =
        in_float64(MultiheadAttention(8, 2, {.rotary = name == "Retention", .core = core}));
    const Tensor x = randn({3, 7, 8}, float64).requires_grad_(), whole = attention(x, kCausal).output;
    for (const int64_t step : {1, 3}) {
      KeyValueCache cache;
      Tensors parts;
      for (int64_t t = 0; t < 7; t += step)
        parts.push_back(attention(narrow(x, 1, t, std::min<int64_t>(step, 7 - t)), kCausal, &cache).output);
      CHECK(cache.length() == 7);
      CHECK(largest_difference(cat(parts, 1), whole) < 1e-12);
      const Tensor g = randn({3, 7, 8}, float64);
      const auto gradient = [&](const Tensor& y) {
        return grad({y}, {x}, {.grad_outputs = {g}, .retain_graph = true})[0];
      };
      CHECK(largest_difference(gradient(cat(parts, 1)), gradient(whole)) < 1e-11);
      cache.select(tensor({2, 0}, int64));
      const Tensor next = randn({2, 1, 8}, float64);
      const Tensor longer = cat({index_select(x, 0, tensor({2, 0}, int64)), next}, 1);
      CHECK(largest_difference(attention(next, kCausal, &cache).output,
                               narrow(attention(longer, kCausal).output, 1, 7, 1)) < 1e-12);
    }
    const Tensor earlier = grad({sum(narrow(whole, 1, 3, 1))}, {x})[0];
    CHECK(magnitude(narrow(earlier, 1, 4, 3)) == 0);
    CHECK(magnitude(narrow(earlier, 1, 0, 1)) > 0);
  }
}

TEST_CASE("cores with a state: padding has no influence, even NaN") {
  manual_seed(2);
  for (const auto& [name, core] : cores(8, 2)) {
    CAPTURE(name);
    const MultiheadAttention attention = in_float64(MultiheadAttention(8, 2, {.core = core}));
    const Tensor x = randn({2, 5, 8}, float64);
    AttentionOptions options = Mask::lengths(tensor({3, 5}, int64), 5);
    options.is_causal = true;
    const Tensor y = attention(x, x, where(transpose(options.mask), x, kNaN), options).output;
    CHECK(largest_difference(y[1], attention(x[1], kCausal).output) < 1e-12);
    CHECK(largest_difference(narrow(y[0], 0, 0, 3), attention(narrow(x[0], 0, 0, 3), kCausal).output) <
          1e-12);
    CHECK_ERROR_HAS(attention(x, Mask::causal(5)), "a mask can only hide keys");
    for (const AttentionOptions& of_scores : {AttentionOptions{.bias = zeros({5, 5}, float64)},
                                              {.scale = 1},
                                              {.window = 2},
                                              {.soft_cap = 1},
                                              {.position_bias = zeros({9}, float64)},
                                              {.sink_logit = zeros({2}, float64)}})
      CHECK_ERROR_HAS(attention(x, of_scores), "a core with a state has no scores");
    CHECK_ERROR_HAS(attention(x, AttentionOptions{.need_weights = true}), "a core has no weights");
  }
}

TEST_CASE("cores with a state: check_module") {
  for (size_t i = 0; i < cores(4, 2).size(); ++i) {
    CAPTURE(cores(4, 2)[i].first);
    const ModuleReport report = check_module(
        [i] { return MultiheadAttention(4, 2, {.core = cores(4, 2)[i].second}); }, {randn({2, 3, 4})},
        [](const MultiheadAttention& m, const Tensors& in) { return m(in[0], kCausal).output; });
    CHECK_MESSAGE(bool(report), to_string(report));
  }
}

TEST_CASE("cores with a state: names") {
  const auto of = [](const AnyCore& core) {
    Texts all;
    for (const std::string& name : names(MultiheadAttention(8, 2, {.core = core}).named_parameters()))
      if (name.starts_with("core.")) all.push_back(name.substr(5));
    return all;
  };
  CHECK(of(LinearCore()).empty());
  CHECK(of(Retention(8, 2)) == Texts{"g_proj.weight", "g_norm.weight"});
  CHECK(of(GatedLinearAttention(8, 2)) ==
        Texts{"gk_proj.0.weight", "gk_proj.1.weight", "gk_proj.1.bias", "g_proj.weight", "g_norm.weight"});
  CHECK(of(GatedDeltaNet(8, 2)) ==
        Texts{"b_proj.weight", "g_proj.weight", "g_norm.weight", "dt_proj.weight", "dt_bias", "A_log"});
  CHECK(of(StateSpace(8, 2)) ==
        Texts{"dt_proj.weight", "dt_bias", "A_log", "D", "g_proj.weight", "g_norm.weight"});
  CHECK(of(Rwkv(8, 2)) == Texts{"time_decay", "time_first"});
  CHECK(MultiheadAttention(8, 2, {.core = Performer(8, 2)}).state_dict().contains("core.projection"));
}

TEST_CASE("cores with a state: in a transformer, step by step") {
  manual_seed(3);
  TransformerOptions options{.dim_feedforward = 12, .dropout = 0};
  options.self_attention.core = GatedDeltaNet(8, 2);
  const TransformerDecoder decoder = in_float64(TransformerDecoder(8, 2, 2, options));
  CHECK(decoder.state_dict().contains("layers.1.self_attn.core.A_log"));
  const Tensor tgt = randn({2, 5, 8}, float64), memory = randn({2, 4, 8}, float64);
  const Tensor whole = decoder(tgt, memory, kCausal);
  DecoderCache cache;
  for (int64_t t = 0; t < 5; ++t) {
    const Tensor y = decoder(narrow(tgt, 1, t, 1), memory, kCausal, Mask(), &cache);
    CHECK(largest_difference(y, narrow(whole, 1, t, 1)) < 1e-12);
  }
}

TEST_CASE("LinearCore: attends to a memory, which the cache keeps as one matrix") {
  manual_seed(4);
  const MultiheadAttention attention = in_float64(MultiheadAttention(8, 2, {.core = LinearCore()}));
  const Tensor x = randn({2, 3, 8}, float64), memory = randn({2, 6, 8}, float64), none;
  KeyValueCache cache;
  const Tensor y = attention(x, memory, memory, Mask(), &cache).output;
  CHECK(largest_difference(attention(x, none, none, Mask(), &cache).output, y) < 1e-14);
  CHECK(cache.length() == 6);
  CHECK(cache.state()[0].shape() == Shape{2, 2, 4, 5});
}

TEST_CASE("retention_decay and StateSpace: reference values") {
  const Tensor q = sines({1, 2, 5, 3}, 0.7, 0.1), k = sines({1, 2, 5, 3}, 1.3, 0.2),
               v = sines({1, 2, 5, 2}, 0.9, 0.3);
  const auto last = [&](const Tensor& value, const LinearAttentionOptions& options) {
    return values(select(F::linear_attention(q, k, value, options).output, 2, 4));
  };
  const Tensor g = retention_decay(2, float64);
  CHECK(largest_difference(values(exp(g)), Values{31.0 / 32, 63.0 / 64}) < 1e-15);
  CHECK(largest_difference(
            last(v, {.rule = LinearRule::gated, .decay = g}),
            Values{-0.693589328045891, -0.820090593940227, 0.33413091523293, -0.580022797452168}) < 1e-12);
  InputDecay decay = [] {
    InputDecay made(4, 2);
    made.A_log = to(log(tensor({1.5, 0.7})), float32);
    return made;
  }();
  const Tensor dt = unsqueeze(0.5 + 0.3 * sines({1, 2, 5}, 1.1, 0.4), -1);
  const Tensor rate = tensor({1.5, 0.7}, float64);
  const Tensor decays = -reshape(rate, {2, 1, 1}) * dt;
  CHECK(largest_difference(to(decay(to(dt, float32)), float64), decays) < 1e-6);
  CHECK(largest_difference(
            last(v * dt, {.rule = LinearRule::gated, .decay = decays, .scale = 1}),
            Values{-0.269363110369432, -0.44907733844511, 0.307591342325188, -0.388706553962284}) < 1e-12);
}
