#include "nn/attention/core.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/elementary.h"
#include "autograd/ops/scan.h"
#include "nn/debug/check_module.h"
#include "nn/transformer/transformer.h"
#include "tests/support/expect.h"

// The mean of the values of all positions so far, times a learned factor for each head.
struct MeanOfValues {
  Tensor operator()(const CoreInputs& in) const {
    Tensor sums = cumsum(in.v, 2);
    if (!in.state.empty()) sums = sums + in.state[0];
    in.state = {narrow(sums, 2, sums.size(2) - 1, 1)};
    const Tensor count = arange(1, sums.size(2) + 1, 1, sums.dtype()) + in.options.past;
    return factor * sums / unsqueeze(count, 1);
  }
  void visit(Visitor& v) { v("factor", factor); }

  Parameter factor = full({2, 1, 1}, 0.5);
};

TEST_CASE("a core in place of scores: values, names, gated and grouped, step by step, and check_module") {
  manual_seed(1);
  const MultiheadAttention attention = in_float64(
      MultiheadAttention(4, 2, {.num_kv_heads = 1, .gate = HeadGate::headwise, .core = MeanOfValues()}));
  CHECK(attention.state_dict().contains("core.factor"));
  const Tensor x = randn({3, 5, 4}, float64);
  const Tensor v = linear(x, narrow(attention.in_proj_weight, 0, 6, 2));  // [B, T, 2], for both heads
  const Tensor mean_of_values = cumsum(v, 1) / unsqueeze(arange(1, 6, 1, float64), 1);
  const Tensor gates = sigmoid((*attention.gate_proj)(x));
  const Tensor heads =
      cat({mean_of_values * narrow(gates, 2, 0, 1), mean_of_values * narrow(gates, 2, 1, 1)}, 2);
  const Tensor whole = attention(x).output;
  CHECK(largest_difference(whole, attention.out_proj(0.5 * heads)) < 1e-12);

  KeyValueCache cache;
  for (int64_t t = 0; t < 5; ++t) {
    CHECK(cache.length() == t);
    CHECK(largest_difference(attention(narrow(x, 1, t, 1), Mask(), &cache).output, narrow(whole, 1, t, 1)) <
          1e-12);
  }
  CHECK(check_module(MultiheadAttention(4, 2, {.core = MeanOfValues()}), {randn({2, 3, 4})}));
  CHECK_ERROR_HAS(attention(x, AttentionOptions{.need_weights = true}), "a core has no weights");
  const auto sums = [](const CoreInputs& in) { return sum(in.v, 2, true); };
  CHECK_ERROR_HAS(MultiheadAttention(4, 2, {.core = sums})(randn({3, 5, 4})),
                  "the core returned [3, 2, 1, 2]; it must return [B, H, T, D], here [3, 2, 5, 2]");
  CHECK_ERROR_HAS(MultiheadAttention(4, 2, {.soft_cap = 1, .core = MeanOfValues()}), "a core has no scores");

  // Any function is a core; here it is the usual one.
  const auto scores = [](const CoreInputs& in) {
    return F::scaled_dot_product_attention(in.q, in.k, in.v, in.options).output;
  };
  MultiheadAttention same = in_float64(MultiheadAttention(4, 2, {.core = scores})),
                     plain = in_float64(MultiheadAttention(4, 2));
  plain.load_state_dict(same.state_dict());
  CHECK(largest_difference(same(x, Mask::causal(5)).output, plain(x, Mask::causal(5)).output) == 0);
}

TEST_CASE("a core in a transformer: step by step, with rows selected") {
  manual_seed(2);
  TransformerOptions options{.dim_feedforward = 6, .dropout = 0};
  options.self_attention.core = MeanOfValues();
  const TransformerDecoder decoder = in_float64(TransformerDecoder(4, 2, 2, options));
  CHECK(decoder.state_dict().contains("layers.1.self_attn.core.factor"));
  CHECK_FALSE(decoder.state_dict().contains("layers.1.multihead_attn.core.factor"));
  const Tensor x = randn({2, 4, 4}, float64), memory = randn({2, 3, 4}, float64);
  const Tensor whole = decoder(x, memory), rows = tensor({1, 0}, int64);
  DecoderCache cache;
  decoder(narrow(x, 1, 0, 3), memory, Mask(), Mask(), &cache);
  CHECK(cache.length() == 3);
  cache.select(rows);
  const Tensor last = index_select(narrow(x, 1, 3, 1), 0, rows);
  CHECK(largest_difference(decoder(last, Tensor(), Mask(), Mask(), &cache),
                           index_select(narrow(whole, 1, 3, 1), 0, rows)) < 1e-12);
}
