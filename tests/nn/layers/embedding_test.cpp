#include "nn/layers/embedding.h"

#include "autograd/ops/moments.h"
#include "tests/support/expect.h"

TEST_CASE("Embedding: rows by index, names, initialization") {
  manual_seed(2);
  const Embedding layer(50, 40);
  const Tensor index = tensor({{0, 49}, {3, 3}}, int64);
  const Tensor y = layer(index);
  CHECK(y.shape() == Shape{2, 2, 40});
  CHECK(values(y[{0, 1}]) == values(layer.weight[49]));
  CHECK(test::names(layer.named_parameters()) == Texts{"weight"});
  CHECK(heed::stddev(layer.weight).item() == doctest::Approx(1).epsilon(0.05));
}

TEST_CASE("Embedding: the padding row starts at zero and gets no gradient") {
  for (const int64_t padding : {2, -1}) {
    const Embedding layer(3, 2, {.padding_idx = padding});
    CHECK(layer.padding_idx == 2);
    CHECK(values(layer.weight[2]) == Values{0, 0});
    CHECK(layer.weight.requires_grad());
    layer(tensor({2, 0, 0}, int64)).backward(ones({3, 2}));
    CHECK(values(layer.weight.grad()) == Values{2, 2, 0, 0, 0, 0});
  }
  CHECK_ERROR(Embedding(3, 2, {.padding_idx = 3}), "Embedding: padding_idx 3 is not in [-3, 3)");
}

TEST_CASE("Embedding: copies a given weight") {
  const Tensor start = tensor({{1, 2}, {3, 4}, {5, 6}});
  const Embedding layer(start, {.padding_idx = -1});
  CHECK(values(layer.weight) == Values{1, 2, 3, 4, 0, 0});
  CHECK(values(layer(tensor({1}, int64))) == Values{3, 4});
  CHECK(values(start) == Values{1, 2, 3, 4, 5, 6});
  CHECK(Embedding(start).weight.requires_grad());
  CHECK_ERROR(Embedding(ones({3})),
              "Embedding: the start has shape [3]; it must be [num_embeddings, embedding_dim]");
}

TEST_CASE("Embedding: a tied output projection is one parameter under two names") {
  struct Model : Layer<Model> {
    Tensor forward(const Tensor& words) const { return linear(embedding(words), embedding.weight); }
    void visit(Visitor& v) override {
      v("embedding", embedding);
      v("head.weight", embedding.weight);
    }
    Embedding embedding{5, 4};
  };
  Model model, other;
  const Tensor words = tensor({{0, 3}}, int64), y = model(words);
  CHECK(y.shape() == Shape{1, 2, 5});
  CHECK(test::unregistered_leaves(y, model) == "");
  CHECK(model.parameters().size() == 1);
  CHECK(model.state_dict().size() == 2);
  for (const char* name : {"embedding.weight", "head.weight"}) {
    other.embedding.weight = zeros({5, 4});
    CHECK(other.load_state_dict({{name, model.embedding.weight}}).missing.empty());
    CHECK(values(other(words)) == values(y));
  }
  // The gradient is the sum of both uses: d/dW sum(W[words] W^T).
  sum(y).backward();
  const Tensor w = model.embedding.weight.detach(), rows = sum(embedding(w, words), {0, 1});
  const Tensor want = expand(rows, {5, 4}) + expand(sum(w, 0), {5, 4}) * tensor({{1}, {0}, {0}, {1}, {0}});
  CHECK(largest_difference(model.embedding.weight.grad(), want) < 1e-5);
}

TEST_CASE("Embedding: invalid indices throw") {
  const Embedding layer(3, 2);
  CHECK_THROWS_AS(layer(tensor({3}, int64)), Error);
  CHECK_THROWS_AS(layer(tensor({0.5})), Error);
}
