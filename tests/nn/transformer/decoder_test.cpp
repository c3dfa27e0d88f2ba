#include "nn/transformer/transformer.h"

#include <doctest/doctest.h>

#include "tensor/index.h"
#include "tests/support/expect.h"
#include "tests/support/leaves.h"

using namespace heed;

namespace {

constexpr int64_t kTarget = 5, kSource = 6;

TransformerDecoder small(bool norm_first, bool rotary = false) {
  TransformerDecoder decoder(8, 2, 2,
                             {.dim_feedforward = 12,
                              .dropout = 0,
                              .norm_first = norm_first,
                              .rotary = rotary,
                              .final_norm = norm_first});
  decoder.to(float64);
  return decoder;
}

}  // namespace

TEST_CASE("TransformerDecoderLayer: self-attention, memory, feed-forward, in this order; names") {
  manual_seed(1);
  for (const bool norm_first : {false, true}) {
    const TransformerDecoderLayer layer(
        8, 2,
        {.dim_feedforward = 12, .dropout = 0, .activation = Activation::gelu, .norm_first = norm_first});
    const Tensor tgt = randn({2, 5, 8}), memory = randn({2, 6, 8});
    const Mask causal = Mask::causal(5), lengths = Mask::lengths(tensor({6, 2}, int64), 6);
    const auto own = [&](const Tensor& x) { return layer.self_attn(x, causal).output; };
    const auto other = [&](const Tensor& x) {
      return layer.multihead_attn(x, memory, memory, lengths).output;
    };
    const auto think = [&](const Tensor& x) { return layer.linear2(gelu(layer.linear1(x))); };
    Tensor x = tgt;
    if (norm_first) {
      x = x + own(layer.norm1(x));
      x = x + other(layer.norm2(x));
      x = x + think(layer.norm3(x));
    } else {
      x = layer.norm1(x + own(x));
      x = layer.norm2(x + other(x));
      x = layer.norm3(x + think(x));
    }
    CHECK(largest_difference(layer(tgt, memory, causal, lengths), x) == 0);
    CHECK(layer(tgt[0], memory[0]).shape() == Shape{5, 8});
    CHECK(test::forgotten_leaves(x, layer) == "");
    CHECK(layer.state_dict().contains("multihead_attn.out_proj.bias"));
    CHECK(layer.parameters().size() == 18);
  }
}

// covers: C-100-06
TEST_CASE("TransformerDecoder: step by step with a cache equals all at once") {
  manual_seed(2);
  for (const bool norm_first : {false, true})
    for (const bool rotary : {false, true}) {
      const TransformerDecoder decoder = small(norm_first, rotary);
      const Tensor tgt = randn({3, kTarget, 8}, float64), memory = randn({3, kSource, 8}, float64);
      const Mask lengths = Mask::lengths(tensor({6, 2, 4}, int64), kSource);
      const Tensor whole = decoder(tgt, memory, Mask::causal(kTarget), lengths);
      DecoderCache cache;
      // The first two at once, then one by one; the memory is read once.
      Tensor y = decoder(narrow(tgt, 1, 0, 2), memory, Mask::causal(2), lengths, &cache);
      CHECK(largest_difference(y, narrow(whole, 1, 0, 2)) < 1e-12);
      for (int64_t t = 2; t < kTarget; ++t) {
        CHECK(cache.length() == t);
        y = decoder(narrow(tgt, 1, t, 1), Tensor(), Mask(), lengths, &cache);
        CHECK(largest_difference(y, narrow(whole, 1, t, 1)) < 1e-12);
      }
      // Two steps back, and another way from there, in rows as a beam search takes them.
      const DecoderCache before = cache;
      const Tensor rows = tensor({2, 0}, int64);
      cache.roll_back(3);
      cache.select(rows);
      y = decoder(index_select(narrow(tgt, 1, 3, 1), 0, rows), Tensor(), Mask(),
                  Mask::lengths(tensor({4, 6}, int64), kSource), &cache);
      CHECK(largest_difference(y, index_select(narrow(whole, 1, 3, 1), 0, rows)) < 1e-12);
      CHECK(before.length() == kTarget);
      CHECK(before.layers[1].memory.length() == kSource);
    }
}

TEST_CASE("padding 50 positions more, in target and memory, changes nothing in the decoder") {
  manual_seed(3);
  for (const bool norm_first : {false, true}) {
    TransformerDecoder decoder = small(norm_first);
    const Tensor of_target = tensor({3, 5}, int64), of_source = tensor({6, 2}, int64);
    const Tensor tgt = randn({2, kTarget, 8}, float64), memory = randn({2, kSource, 8}, float64);
    const auto valid = [](const Tensor& lengths, int64_t most) {
      return to(unsqueeze(arange(double(most), int64) < unsqueeze(lengths, 1), -1), float64);
    };
    const Tensor weight = randn({2, kTarget, 8}, float64) * valid(of_target, kTarget);
    std::vector<Tensor> first;
    for (const int64_t more : {0, 50}) {
      const Tensor x = pad(tgt, {0, 0, 0, more}, 3).requires_grad_();
      const Tensor source = pad(memory, {0, 0, 0, more}, -2).requires_grad_();
      const Mask own = Mask::causal(kTarget + more) & Mask::lengths(of_target, kTarget + more);
      const Tensor y = decoder(x, source, own, Mask::lengths(of_source, kSource + more));
      const Tensor loss = sum(y * pad(weight, {0, 0, 0, more}));
      decoder.zero_grad();
      loss.backward();
      std::vector<Tensor> found = {narrow(y, 1, 0, kTarget) * valid(of_target, kTarget), loss,
                                   narrow(x.grad(), 1, 0, kTarget), narrow(source.grad(), 1, 0, kSource)};
      for (const Tensor& p : decoder.parameters()) found.push_back(p.grad());
      for (size_t i = 0; i < first.size(); ++i) CHECK(largest_difference(found[i], first[i]) < 1e-11);
      first = found;
    }
  }
}
