#pragma once

#include <string>
#include <vector>

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/elementary.h"
#include "nn/attention/multi_head.h"
#include "tests/support/expect.h"

/// Every form of MultiheadAttention, for tests that hold for all of them: embed_dim 16, 4 heads.
struct AttentionForm {
  std::string name;
  MultiheadAttentionOptions options;
};

inline std::vector<AttentionForm> attention_forms() {
  return {
      {"plain", {}},
      {"grouped", {.num_kv_heads = 2}},
      {"multi_query", {.num_kv_heads = 1}},
      {"latent", {.latent_dim = 6, .latent_rotary_dim = 2}},
      {"latent_plain", {.latent_dim = 6}},
      {"headwise", {.gate = HeadGate::headwise}},
      {"elementwise", {.gate = HeadGate::elementwise}},
      {"qk_norm", {.qk_norm = 5}},
      {"soft_cap", {.soft_cap = 0.5}},
      {"window", {.window = 2}},
      {"sinks", {.window = 2, .sinks = 1}},
      {"sink_logit", {.sink_logit = true}},
      {"memory", {.memory_tokens = 3}},
      {"differential", {.differential = true, .lambda_init = 0.6}},
      {"talking", {.talking_heads = true}},
      {"alibi", {.position_bias = AlibiBias(4)}},
      {"t5", {.position_bias = T5Bias(4, {.num_buckets = 8, .max_distance = 4})}},
      {"function", {.position_bias = [](const Tensor& distances) { return -0.3 * square(distances); }}},
      {"shaw", {.relative_score = ShawScore(4, 2)}},
      {"xl", {.relative_score = TransformerXLScore(16, 4)}},
      {"rotary", {.rotary = true}},
      {"rotary_scaled",
       {.rotary = true, .rotary_scaling = {.base = 500, .position_factor = 2, .ntk_factor = 3}}},
      // combinations
      {"grouped, differential, rotary, t5, sinks",
       {.rotary = true,
        .position_bias = T5Bias(4),
        .num_kv_heads = 2,
        .window = 3,
        .sinks = 1,
        .differential = true}},
      {"grouped, talking, memory, gated, capped",
       {.num_kv_heads = 2,
        .gate = HeadGate::headwise,
        .soft_cap = 2,
        .memory_tokens = 2,
        .talking_heads = true}},
      {"grouped, xl, memory, sink logit, window",
       {.relative_score = TransformerXLScore(16, 4),
        .num_kv_heads = 2,
        .window = 2,
        .sink_logit = true,
        .memory_tokens = 2}},
      {"latent, memory, alibi, window",
       {.position_bias = AlibiBias(4),
        .latent_dim = 6,
        .latent_rotary_dim = 2,
        .window = 2,
        .memory_tokens = 2}},
      {"grouped, cosine, alibi, memory, sink logit, gated",
       {.position_bias = AlibiBias(4),
        .num_kv_heads = 2,
        .gate = HeadGate::elementwise,
        .qk_norm = 3,
        .sink_logit = true,
        .memory_tokens = 1}},
  };
}
