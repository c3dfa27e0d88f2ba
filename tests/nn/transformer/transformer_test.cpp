#include "nn/transformer/transformer.h"

#include "nn/attention/position.h"
#include "nn/layers/embedding.h"
#include "nn/layers/sequential.h"
#include "nn/optim/adaptive.h"
#include "nn/view/capture.h"
#include "tensor/kernels/matmul.h"
#include "tests/support/attention_forms.h"
#include "tests/support/expect.h"

constexpr int64_t kTarget = 5, kSource = 6;

static double share_of_zeros(const Tensor& x, double zero = 1e-4) {
  return mean(to(logical_and(-zero < x, x < zero), float64)).item();
}

// The reference cases check values and gradients.
TEST_CASE("transformer layers: inputs without a batch, names") {
  manual_seed(1);
  const Tensor tgt = randn({2, kTarget, 8}), memory = randn({2, kSource, 8});
  const TransformerEncoderLayer encoder(8, 2, {.dim_feedforward = 12, .dropout = 0});
  CHECK(largest_difference(encoder(tgt[0]), encoder(tgt)[0]) < 1e-5);
  const TransformerDecoderLayer decoder(8, 2, {.dim_feedforward = 12, .dropout = 0});
  CHECK(largest_difference(decoder(tgt[0], memory[0]), decoder(tgt, memory)[0]) < 1e-5);
  CHECK(decoder.state_dict().contains("multihead_attn.out_proj.bias"));
  CHECK(decoder.parameters().size() == 18);
  CHECK(TransformerEncoderLayer(8, 2, {.dim_feedforward = 12, .bias = false}).parameters().size() == 6);
}

TEST_CASE("transformer layers: a bias of -inf is a mask; a bias gets its gradient") {
  manual_seed(2);
  const TransformerDecoder decoder(8, 2, 2, {.dim_feedforward = 12, .dropout = 0});
  const Tensor tgt = randn({2, kTarget, 8}), memory = randn({2, kSource, 8});
  const Mask causal = Mask::causal(kTarget), lengths = Mask::lengths(tensor({6, 2}, int64), kSource);
  const auto bias_of = [](const Mask& mask) { return to(where(mask.allowed(), 0.0, -INFINITY), float32); };
  const Tensor want = decoder(tgt, memory, causal, lengths);
  const Tensor self = bias_of(causal).requires_grad_(), cross = bias_of(lengths).requires_grad_();
  const Tensor y = decoder(tgt, memory, AttentionOptions{.bias = self}, AttentionOptions{.bias = cross});
  CHECK(largest_difference(y, want) < 1e-5);
  CHECK(largest_difference(decoder(tgt, memory, AttentionOptions{.is_causal = true}, lengths), want) < 1e-5);
  sum(y * y).backward();
  CHECK(magnitude(self.grad()) > 0);
  CHECK(magnitude(cross.grad()) > 0);
  CHECK_ERROR_HAS(decoder(tgt, memory, AttentionOptions{.need_weights = true}),
                  "an AttentionScope sees the weights");
  CHECK_ERROR_HAS(decoder(tgt, memory, Mask::causal(4)), "the mask is [4, 4]");
}

TEST_CASE("transformer stacks: is_causal needs no T x T mask in memory") {
  if (reference_mode()) return;  // the composed form has the scores in memory
  constexpr int64_t T = 1024;
  TransformerEncoder encoder(8, 1, 2, {.dim_feedforward = 8, .dropout = 0});
  const Tensor x = randn({1, T, 8});
  const auto growth = [](const auto& f) {
    reset_peak_memory();
    const size_t before = memory_use().live;
    f();
    return static_cast<double>(memory_use().peak - before);
  };
  const double causal = growth([&] { encoder(x, AttentionOptions{.is_causal = true}); });
  CHECK(causal < growth([&] { encoder(x); }) + T * T / 4);
  CHECK(causal + T * T / 2 < growth([&] { encoder(x, Mask::causal(T)); }));
  const Tensor whole = encoder(x, Mask::causal(T));
  CHECK(largest_difference(encoder(x, AttentionOptions{.is_causal = true}), whole) < 1e-5);
}

TEST_CASE("transformer layers: each dropout has its own probability and its own draws") {
  constexpr int64_t E = 32;
  const double p = 0.3;
  struct Places {
    double self, cross, residual, feedforward;
  };
  const auto near = [&](double got, double want) { CHECK(got == doctest::Approx(want).epsilon(0.1)); };
  for (const auto& [options, want] : std::vector<std::pair<TransformerOptions, Places>>{
           {{.dropout = p}, {p, p, p, p}},
           {{.dropout = 0, .attention_dropout = p}, {p, p, 0, 0}},
           {{.dropout = 0, .feedforward_dropout = p}, {0, 0, 0, p}},
           {{.dropout = p, .attention_dropout = 0, .feedforward_dropout = 0}, {0, 0, p, 0}},
           {{.dropout = p, .attention_dropout = 0, .residual_dropout = 0}, {0, 0, 0, p}}}) {
    manual_seed(3);
    TransformerOptions chosen = options;
    chosen.dim_feedforward = E;
    chosen.norm_first = true;
    TransformerEncoderLayer encoder(E, 2, chosen);
    const TransformerDecoderLayer decoder(E, 2, chosen);
    const Tensor x = randn({4, 32, E});
    {
      AttentionScope scope;
      encoder(x);
      decoder(x, x);
      near(share_of_zeros(scope.weights("self_attn", 0), 1e-30), want.self);
      near(share_of_zeros(scope.weights("self_attn", 1), 1e-30), want.self);
      near(share_of_zeros(scope.weights("multihead_attn"), 1e-30), want.cross);
      if (want.self > 0)
        CHECK(largest_difference(scope.weights("self_attn", 1) == 0, scope.weights("multihead_attn") == 0) ==
              1);
    }
    // Attention adds `attention` everywhere, and the feed-forward part adds its activations, `inside`.
    const auto added = [&](auto layer, double attention, double inside) {
      const NoGrad guard;
      fill_(layer.self_attn.out_proj.weight, 0);
      if constexpr (requires { layer.multihead_attn; })
        for (const Tensor& w : layer.multihead_attn.out_proj.parameters()) fill_(w, 0);
      fill_(layer.self_attn.out_proj.bias, attention);
      fill_(layer.linear1.weight, 0);
      fill_(layer.linear1.bias, inside);
      copy_(layer.linear2.weight, eye(E));
      fill_(layer.linear2.bias, 0);
      if constexpr (requires { layer.multihead_attn; })
        return layer(x, x) - x;
      else
        return layer(x) - x;
    };
    const auto check_parts = [&](const auto& layer) {
      near(share_of_zeros(added(layer, 1, 0)), want.residual);
      const double kept = (1 - want.feedforward) * (1 - want.residual);
      const Tensor inside = added(layer, 0, 1);
      near(share_of_zeros(inside), 1 - kept);
      near(mean(inside).item(), 1);
      near(max(inside).item(), 1 / kept);
      near(share_of_zeros(added(layer, 1, 1)), want.residual * (1 - kept));
    };
    check_parts(encoder);
    check_parts(decoder);
    encoder.eval();
    CHECK(share_of_zeros(added(encoder, 1, 1)) == 0);
  }
  CHECK_ERROR(TransformerEncoderLayer(4, 2, {.residual_dropout = 2}),
              "TransformerEncoderLayer: residual_dropout is 2; a probability lies in [0, 1]");
}

// covers: C-100-06
TEST_CASE("TransformerDecoder: step by step with a cache equals one call") {
  manual_seed(2);
  for (const bool norm_first : {false, true})
    for (const bool rotary : {false, true}) {
      TransformerOptions options{
          .dim_feedforward = 12, .dropout = 0, .norm_first = norm_first, .rotary = rotary};
      options.final_norm = norm_first;
      const TransformerDecoder decoder = in_float64(TransformerDecoder(8, 2, 2, options));
      const AttentionOptions causal{.is_causal = true};
      const Tensor tgt = randn({3, kTarget, 8}, float64), memory = randn({3, kSource, 8}, float64);
      const Mask lengths = Mask::lengths(tensor({6, 2, 4}, int64), kSource);
      const Tensor whole = decoder(tgt, memory, Mask::causal(kTarget), lengths);
      DecoderCache cache;
      // One position, then two, then one at a time; the memory is given once.
      Tensor y = decoder(narrow(tgt, 1, 0, 1), memory, causal, lengths, &cache);
      y = decoder(narrow(tgt, 1, 1, 2), Tensor(), causal, lengths, &cache);
      CHECK(largest_difference(y, narrow(whole, 1, 1, 2)) < 1e-12);
      for (int64_t t = 3; t < kTarget; ++t) {
        CHECK(cache.length() == t);
        y = decoder(narrow(tgt, 1, t, 1), Tensor(), Mask(), lengths, &cache);
        CHECK(largest_difference(y, narrow(whole, 1, t, 1)) < 1e-12);
      }
      // Two steps back, and a different continuation, with rows selected as in beam search.
      const DecoderCache before = cache;
      const Tensor rows = tensor({2, 0}, int64);
      cache.roll_back(3);
      cache.select(rows);
      y = decoder(index_select(narrow(tgt, 1, 3, 1), 0, rows), Tensor(), causal,
                  Mask::lengths(tensor({4, 6}, int64), kSource), &cache);
      CHECK(largest_difference(y, index_select(narrow(whole, 1, 3, 1), 0, rows)) < 1e-12);
      CHECK(before.length() == kTarget);
      CHECK(before.layers[1].memory.length() == kSource);
    }
}

TEST_CASE("TransformerEncoder: step by step with a cache gives the same bits as one call") {
  manual_seed(4);
  constexpr int64_t T = 37;
  const AttentionOptions causal{.is_causal = true};
  const bool same_bits = kernel::has_own_product(float32) && !reference_mode();
  const auto equal = [&](const Tensor& a, const Tensor& b) {
    return same_bits ? bytes_of(a) == bytes_of(b) : largest_difference(a, b) < 1e-5;
  };
  for (const bool rotary : {false, true}) {
    TransformerOptions options{.dim_feedforward = 36, .dropout = 0, .activation = Activation::gelu};
    options.norm_first = options.final_norm = true;
    options.rotary = rotary;
    const TransformerEncoder encoder(24, 2, 2, options);
    const NoGrad guard;
    const Tensor x = randn({3, T, 24});
    const Tensor whole = encoder(x, causal);
    EncoderCache cache;
    CHECK(equal(encoder(narrow(x, 1, 0, 5), causal, &cache), narrow(whole, 1, 0, 5)));
    for (int64_t t = 5; t < T; ++t) {
      CHECK(cache.length() == t);
      CHECK(equal(encoder(narrow(x, 1, t, 1), causal, &cache), narrow(whole, 1, t, 1)));
    }
    // Some steps back, and a different continuation; an earlier copy is unchanged.
    const EncoderCache before = cache;
    const Tensor rows = tensor({2, 0}, int64);
    cache.roll_back(30);
    cache.select(rows);
    const Tensor y = encoder(index_select(narrow(x, 1, 30, 2), 0, rows), causal, &cache);
    CHECK(equal(y, index_select(narrow(whole, 1, 30, 2), 0, rows)));
    CHECK(before.length() == T);
    CHECK(before.layers[1].keys().size(0) == 3);
    // An error leaves the cache unchanged, also if it occurs after the first layer.
    CHECK_ERROR_HAS(encoder(randn({3, 1, 24}), causal, &cache), "select the rows of the batch?");
    TransformerEncoder broken = encoder;
    broken.layers[1] = TransformerEncoderLayer(16, 2);
    CHECK(message([&] { broken(randn({2, 1, 24}), causal, &cache); }) != "");
    CHECK(cache.length() == 32);
    CHECK(cache.layers[0].length() == 32);
    broken.layers.pop_back();
    CHECK_ERROR_HAS(broken(x, causal, &cache),
                    "TransformerEncoder: the cache is of 2 layers, and there are 1");
    CHECK_ERROR_HAS(cache.roll_back(33), "cannot roll back to 33");
  }
}

// covers: C-100-01
TEST_CASE("transformer stacks: 50 positions of padding change nothing, even with NaN values") {
  manual_seed(3);
  const Tensor of_target = tensor({3, 5}, int64), of_source = tensor({6, 2}, int64);
  const auto valid = [](const Tensor& lengths, int64_t most) {
    return unsqueeze(arange(double(most), int64) < unsqueeze(lengths, 1), -1);
  };
  for (const bool norm_first : {false, true})
    for (const bool causal : {false, true}) {
      const TransformerOptions options{.dim_feedforward = 12, .dropout = 0, .norm_first = norm_first};
      Transformer model = in_float64(Transformer(8, 2, 2, 2, options));
      const Tensor tgt = randn({2, kTarget, 8}, float64), src = randn({2, kSource, 8}, float64);
      const Tensor weight = randn({2, kTarget, 8}, float64);
      Tensors first;
      for (const double filler : {0.0, 3.0, double(NAN)}) {
        const int64_t more = filler == 0 ? 0 : 50;
        const auto padded = [&](const Tensor& x, const Tensor& lengths) {
          const Tensor counts = valid(lengths, x.size(1) + more);
          return where(counts, pad(x, {0, 0, 0, more}), filler).detach().requires_grad_();
        };
        const Tensor x = padded(tgt, of_target), source = padded(src, of_source);
        const Mask words = Mask::lengths(of_source, kSource + more);
        const AttentionOptions self{.mask = Mask::lengths(of_target, kTarget + more), .is_causal = causal};
        const Tensor y =
            where(valid(of_target, kTarget), narrow(model(source, x, words, self, words), 1, 0, kTarget), 0);
        const Tensor loss = sum(y * weight);
        Tensors found = {y, loss};
        if (!std::isnan(filler)) {  // NaN times 0 reaches the gradients of the weights
          model.zero_grad();
          loss.backward();
          found.insert(found.end(), {narrow(x.grad(), 1, 0, kTarget), narrow(source.grad(), 1, 0, kSource)});
          for (const Tensor& p : model.parameters()) found.push_back(p.grad());
        }
        if (first.empty()) first = found;
        for (size_t i = 0; i < found.size(); ++i) CHECK(largest_difference(found[i], first[i]) < 1e-11);
      }
    }
}

TEST_CASE("transformer stacks: separate layers, names, dropout, a final norm, Xavier initialization") {
  manual_seed(2);
  TransformerEncoder encoder(8, 2, 2, {.dim_feedforward = 12, .dropout = 0.3, .final_norm = true});
  CHECK(largest_difference(encoder.layers[0].linear1.weight, encoder.layers[1].linear1.weight) > 0.01);
  const Tensor src = randn({2, 6, 8}), tgt = randn({2, 5, 8});
  CHECK(largest_difference(encoder(src), encoder(src)) > 0.01);
  encoder.eval();
  CHECK(largest_difference(encoder(src), encoder.norm.value()(encoder.layers[1](encoder.layers[0](src)))) ==
        0);
  CHECK(TransformerEncoder(8, 2, 0)(src).same_as(src));

  const Transformer transformer(8, 2, 1, 2, {.dim_feedforward = 12, .dropout = 0});
  const Mask lengths = Mask::lengths(tensor({6, 2}, int64), 6);
  const Tensor y = transformer(src, tgt, lengths, Mask::causal(5), lengths);
  const Tensor memory = transformer.encoder(src, lengths);
  CHECK(largest_difference(y, transformer.decoder(tgt, memory, Mask::causal(5), lengths)) == 0);
  CHECK(largest_difference(mean(y, -1), zeros({2, 5})) < 1e-5);
  for (const std::string name : {"encoder.layers.0.norm2.bias", "encoder.norm.weight",
                                 "decoder.layers.1.multihead_attn.in_proj_weight", "decoder.norm.bias"})
    CHECK(transformer.state_dict().contains(name));
  CHECK(transformer.parameters().size() == 12 + 2 * 18 + 4);
  CHECK(test::unregistered_leaves(y, transformer) == "");
  check_fills(transformer.decoder.layers[0].linear1.weight, std::sqrt(6.0 / 20));
}

// Trains a model to reverse sequences and returns its accuracy on sequences of this length.
template <class Position>
static double learn_to_reverse(const Position& position, int64_t layers, bool norm_first, int steps,
                               int64_t length) {
  const TransformerOptions options{
      .dim_feedforward = 64, .dropout = 0, .norm_first = norm_first, .final_norm = norm_first};
  Sequential model{Embedding(8, 32), position, TransformerEncoder(32, 4, layers, options), Linear(32, 8)};
  Adam optimizer(model.parameters(), {.lr = 3e-3});
  for (int step = 0; step < steps; ++step) {
    const Tensor x = randint(0, 8, {32, length});
    optimizer.zero_grad();
    F::cross_entropy(model(x), flip(x, {1}), {.class_dim = -1}).backward();
    optimizer.step();
  }
  const NoGrad no_history;
  const Tensor x = randint(0, 8, {200, length});
  return mean(to(argmax(model(x), -1) == flip(x, {1}), float32)).item();
}

TEST_CASE("TransformerEncoder with pre- or post-norm learns to reverse a sequence") {
  for (const bool norm_first : {false, true}) {
    manual_seed(4);
    CHECK(learn_to_reverse(SinusoidalPosition(32), 1, norm_first, 250, 5) >= 0.99);
  }
}

// covers: C-100-03
TEST_CASE("positions: learned positions train as fast as sinusoids" * doctest::test_suite("slow")) {
  for (const uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    manual_seed(seed);
    CHECK(learn_to_reverse(SinusoidalPosition(32), 2, false, 400, 10) >= 0.95);
    manual_seed(seed);
    CHECK(learn_to_reverse(LearnedPosition(10, 32), 2, false, 400, 10) >= 0.95);
  }
}

TEST_CASE("TransformerDecoder: every form of self-attention, step by step, and of attention to the memory") {
  manual_seed(5);
  for (const AttentionForm& form : attention_forms()) {
    INFO(form.name);
    TransformerOptions options{.dim_feedforward = 6, .dropout = 0};
    options.self_attention = form.options;
    if (!form.options.rotary && form.options.latent_rotary_dim == 0 && !form.options.window)
      options.cross_attention = form.options;
    const TransformerDecoder decoder = in_float64(TransformerDecoder(16, 4, 2, options));
    const AttentionOptions causal{.is_causal = true};
    const Tensor tgt = randn({2, kTarget, 16}, float64), memory = randn({2, kSource, 16}, float64);
    const Tensor whole = decoder(tgt, memory, causal);
    DecoderCache cache;
    decoder(narrow(tgt, 1, 0, 2), memory, causal, Mask(), &cache);
    for (int64_t t = 2; t < kTarget; ++t)
      CHECK(largest_difference(decoder(narrow(tgt, 1, t, 1), Tensor(), causal, Mask(), &cache),
                               narrow(whole, 1, t, 1)) < 1e-11);
  }
  TransformerOptions mixed;
  mixed.self_attention = {.position_bias = T5Bias(4), .talking_heads = true};
  const Transformer transformer(16, 4, 1, 1, mixed);  // only weights start as Xavier
  CHECK(largest_difference(transformer.encoder.layers[0].self_attn.mix_scores, eye(4)) == 0);
  for (const NamedTensor& x : transformer.named_parameters())
    if (x.name.ends_with("attention_bias.weight")) CHECK(largest_difference(x.tensor, zeros({32, 4})) == 0);
}
