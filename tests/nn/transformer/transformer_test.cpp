#include "nn/transformer/transformer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "nn/layers/embedding.h"
#include "nn/optim/optimizer.h"
#include "tests/support/expect.h"
#include "tests/support/leaves.h"

using namespace heed;

TEST_CASE("Transformer: encoder, decoder, a norm behind each; Xavier start; names") {
  manual_seed(1);
  const Transformer transformer(8, 2, 1, 2, {.dim_feedforward = 12, .dropout = 0});
  const Tensor src = randn({2, 6, 8}), tgt = randn({2, 5, 8});
  const Mask lengths = Mask::lengths(tensor({6, 2}, int64), 6);
  const Tensor y = transformer(src, tgt, lengths, Mask::causal(5), lengths);
  const Tensor memory = transformer.encoder(src, lengths);
  CHECK(largest_difference(y, transformer.decoder(tgt, memory, Mask::causal(5), lengths)) == 0);
  CHECK(largest_difference(mean(y, -1), zeros({2, 5})) < 1e-5);
  for (const std::string name : {"encoder.layers.0.norm2.bias", "encoder.norm.weight",
                                 "decoder.layers.1.multihead_attn.in_proj_weight", "decoder.norm.bias"})
    CHECK(transformer.state_dict().contains(name));
  CHECK(transformer.parameters().size() == 12 + 2 * 18 + 4);
  CHECK(test::forgotten_leaves(y, transformer) == "");
  const Tensor weight = transformer.decoder.layers[0].linear1.weight;
  const double most = max(abs(weight)).item(), bound = std::sqrt(6.0 / 20);
  CHECK(most <= bound);
  CHECK(most > 0.9 * bound);
}

// covers: C-100-04 C-100-06
TEST_CASE("Transformer, pre- and post-norm, learns to write a sequence backwards, decoding with a cache") {
  constexpr int64_t kStart = 6, kWidth = 32, kLength = 4;
  struct Model : Layer<Model> {
    explicit Model(bool norm_first)
        : transformer(kWidth, 4, 1, 1, {.dim_feedforward = 64, .dropout = 0, .norm_first = norm_first}) {}
    Tensor embedded(const Tensor& x, int64_t offset = 0) const { return position(embed(x), offset); }
    Tensor forward(const Tensor& src, const Tensor& tgt) const {
      return read(transformer(embedded(src), embedded(tgt), Mask(), Mask::causal(tgt.size(1))));
    }
    void visit(Visitor& v) override {
      v("embed", embed);
      v("position", position);
      v("transformer", transformer);
      v("read", read);
    }
    Embedding embed{kStart + 1, kWidth};
    SinusoidalPosition position{kWidth};
    Transformer transformer;
    Linear read{kWidth, kStart};
  };
  for (const bool norm_first : {false, true}) {
    manual_seed(2);
    Model model(norm_first);
    Adam optimizer(model.parameters(), {.lr = 3e-3});
    for (int step = 0; step < 250; ++step) {
      const Tensor src = randint(0, kStart, {32, kLength}), target = flip(src, {1});
      const Tensor given = cat({full({32, 1}, kStart, int64), narrow(target, 1, 0, kLength - 1)}, 1);
      const Tensor loss = F::cross_entropy(flatten(model(src, given), 0, 1), flatten(target));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    const NoGrad no_history;
    const Tensor src = randint(0, kStart, {200, kLength});
    const Tensor memory = model.transformer.encoder(model.embedded(src));
    DecoderCache cache;
    std::vector<Tensor> written = {full({200, 1}, kStart, int64)};
    for (int64_t t = 0; t < kLength; ++t) {
      const Tensor y =
          model.transformer.decoder(model.embedded(written.back(), t), memory, Mask(), Mask(), &cache);
      written.push_back(argmax(model.read(y), -1));
    }
    written.erase(written.begin());
    CHECK(mean(to(cat(written, 1) == flip(src, {1}), float32)).item() >= 0.99);
  }
}
