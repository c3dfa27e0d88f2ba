#include "nn/transformer/transformer.h"

#include <doctest/doctest.h>

#include "autograd/gradcheck.h"
#include "nn/layers/embedding.h"
#include "nn/optim/optimizer.h"
#include "nn/view/capture.h"
#include "tensor/index.h"
#include "tests/support/expect.h"
#include "tests/support/leaves.h"

using namespace heed;

TEST_CASE("TransformerEncoderLayer: attention and feed-forward, each with residual and norm; names") {
  manual_seed(1);
  for (const bool norm_first : {false, true}) {
    TransformerEncoderLayer layer(8, 2, {.dim_feedforward = 12, .dropout = 0, .norm_first = norm_first});
    const Tensor src = randn({2, 5, 8});
    const Mask mask = Mask::lengths(tensor({5, 3}, int64), 5);
    const auto attend = [&](const Tensor& x) { return layer.self_attn(x, mask).output; };
    const auto think = [&](const Tensor& x) { return layer.linear2(relu(layer.linear1(x))); };
    Tensor x = src;
    if (norm_first) {
      x = x + attend(layer.norm1(x));
      x = x + think(layer.norm2(x));
    } else {
      x = layer.norm1(x + attend(x));
      x = layer.norm2(x + think(x));
    }
    CHECK(largest_difference(layer(src, mask), x) == 0);
    CHECK(layer(src[0]).shape() == Shape{5, 8});
    CHECK(test::forgotten_leaves(layer(src), layer) == "");
    layer.to(float64);
    const Tensor wide = to(src, float64);
    CHECK(gradcheck([&](const std::vector<Tensor>&) { return layer(wide, mask); }, {layer.norm1.weight}));
  }
  const TransformerEncoderLayer bare(8, 2, {.dim_feedforward = 12, .bias = false});
  CHECK(bare.parameters().size() == 6);
}

TEST_CASE("TransformerEncoderLayer: dropout of what each part adds and inside it; gelu") {
  const Tensor src = randn({2, 3, 4});
  TransformerEncoderLayer last(4, 2, {.dim_feedforward = 6, .dropout = 1});
  CHECK(largest_difference(last(src), last.norm2(last.norm1(src))) == 0);
  const TransformerEncoderLayer first(4, 2, {.dim_feedforward = 6, .dropout = 1, .norm_first = true});
  CHECK(largest_difference(first(src), src) == 0);

  const TransformerEncoderLayer smooth(4, 2,
                                       {.dim_feedforward = 6, .dropout = 0, .activation = Activation::gelu});
  const Tensor x = smooth.norm1(src + smooth.self_attn(src).output);
  CHECK(largest_difference(smooth(src), smooth.norm2(x + smooth.linear2(gelu(smooth.linear1(x))))) == 0);
}

TEST_CASE("TransformerEncoder: layers of their own, names, dropout, captured weights by path") {
  manual_seed(2);
  TransformerEncoder encoder(8, 2, 2, {.dim_feedforward = 12, .dropout = 0.3, .final_norm = true});
  CHECK(encoder.state_dict().contains("layers.1.self_attn.in_proj_weight"));
  CHECK(encoder.state_dict().contains("norm.bias"));
  CHECK(encoder.parameters().size() == 2 * 12 + 2);
  CHECK(largest_difference(encoder.layers[0].linear1.weight, encoder.layers[1].linear1.weight) > 0.01);
  const Tensor src = randn({2, 5, 8});
  CHECK(largest_difference(encoder(src), encoder(src)) > 0.01);
  encoder.eval();
  CHECK(largest_difference(encoder(src), encoder.norm.value()(encoder.layers[1](encoder.layers[0](src)))) ==
        0);

  struct Model : Layer<Model> {
    explicit Model(const TransformerEncoder& e) : encoder(e) {}
    Tensor forward(const Tensor& x) const { return encoder(x); }
    void visit(Visitor& v) override { v("encoder", encoder); }
    TransformerEncoder encoder;
  };
  AttentionScope scope;
  Model model(encoder);
  model(src);
  CHECK(scope.weights("encoder.layers.1.self_attn").shape() == Shape{2, 2, 5, 5});
  CHECK(TransformerEncoder(8, 2, 0)(src).same_as(src));
}

TEST_CASE("padding 50 positions more changes nothing in the encoder") {
  manual_seed(3);
  for (const bool norm_first : {false, true}) {
    TransformerEncoder encoder(8, 2, 2, {.dim_feedforward = 12, .dropout = 0, .norm_first = norm_first});
    encoder.to(float64);
    const Tensor lengths = tensor({3, 5}, int64), x = randn({2, 5, 8}, float64);
    const Tensor valid = to(unsqueeze(arange(5, int64) < unsqueeze(lengths, 1), -1), float64);
    const Tensor weight = randn({2, 5, 8}, float64) * valid;
    std::vector<Tensor> first;
    for (const int64_t more : {0, 50}) {
      const Tensor padded = pad(x, {0, 0, 0, more}, 3).requires_grad_();
      const Tensor y = encoder(padded, Mask::lengths(lengths, 5 + more));
      const Tensor loss = sum(y * pad(weight, {0, 0, 0, more}));
      encoder.zero_grad();
      loss.backward();
      std::vector<Tensor> found = {narrow(y, 1, 0, 5) * valid, loss, narrow(padded.grad(), 1, 0, 5)};
      for (const Tensor& p : encoder.parameters()) found.push_back(p.grad());
      for (size_t i = 0; i < first.size(); ++i) CHECK(largest_difference(found[i], first[i]) < 1e-11);
      first = found;
    }
  }
}

// covers: C-100-04
TEST_CASE("TransformerEncoder, pre- and post-norm, learns to reverse a sequence") {
  struct Model : Layer<Model> {
    explicit Model(bool norm_first)
        : encoder(32, 4, 1,
                  {.dim_feedforward = 64, .dropout = 0, .norm_first = norm_first, .final_norm = norm_first}) {
    }
    Tensor forward(const Tensor& x) const { return read(encoder(position(embed(x)))); }
    void visit(Visitor& v) override {
      v("embed", embed);
      v("position", position);
      v("encoder", encoder);
      v("read", read);
    }
    Embedding embed{8, 32};
    SinusoidalPosition position{32};
    TransformerEncoder encoder;
    Linear read{32, 8};
  };
  for (const bool norm_first : {false, true}) {
    manual_seed(4);
    Model model(norm_first);
    Adam optimizer(model.parameters(), {.lr = 3e-3});
    for (int step = 0; step < 250; ++step) {
      const Tensor x = randint(0, 8, {32, 5});
      const Tensor loss = F::cross_entropy(flatten(model(x), 0, 1), flatten(flip(x, {1})));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    const NoGrad no_history;
    const Tensor x = randint(0, 8, {200, 5});
    CHECK(mean(to(argmax(model(x), -1) == flip(x, {1}), float32)).item() >= 0.99);
  }
}
