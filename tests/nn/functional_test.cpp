#include "nn/functional.h"

#include "nn/view/capture.h"
#include "tests/support/references.h"

using namespace heed;

TEST_CASE("dropout keeps the expectation, passes the gradient of what it kept, and is the identity in eval") {
  manual_seed(1);
  const Tensor x = full({100, 100}, 2).requires_grad_();
  const Tensor y = F::dropout(x, 0.25);
  int64_t dropped = 0;
  for (const double value : values(y)) {
    const bool zero = value == 0;
    CHECK((zero || value == doctest::Approx(2 / 0.75)));
    dropped += zero;
  }
  CHECK(dropped > 2300);
  CHECK(dropped < 2700);
  y.backward(ones({100, 100}));
  CHECK(values(x.grad() * 2) == values(y));
  CHECK(F::dropout(x, 0.25, false).same_as(x));
  CHECK(F::dropout(x, 0).same_as(x));
  CHECK(values(F::dropout(tensor({1, 2}), 1)) == Values{0, 0});
  CHECK_ERROR_HAS(F::dropout(x, 1.5), "dropout: p is 1.5; a probability lies in [0, 1]");
}

TEST_CASE("dropout draws from the generator it is given; each call anew") {
  const Tensor x = ones({1000});
  Generator a(7), b(7);
  const auto first = values(F::dropout(x, 0.5, true, &a));
  CHECK(first == values(F::dropout(x, 0.5, true, &b)));
  CHECK(first != values(F::dropout(x, 0.5, true, &a)));
  manual_seed(7);
  CHECK(first == values(F::dropout(x, 0.5)));
}

TEST_CASE("losses of elements where the reference cases have none") {
  const Tensor x = tensor({0, 1, 4}), t = tensor({0, 3, 3});
  CHECK(values(F::smooth_l1_loss(x, t, Reduction::none, 0)) == Values{0, 2, 1});
  CHECK(F::kl_div(tensor({{-1, -2}}), tensor({{0, 0}}), {Reduction::batchmean, true}).item() == 3);
  CHECK(F::binary_cross_entropy(tensor({0.5, 0}), tensor({1, 1}), {.reduction = Reduction::sum}).item() ==
        doctest::Approx(100 + std::log(2.0)));
}

TEST_CASE("the shapes of prediction and target must be equal") {
  CHECK_ERROR_HAS(F::mse_loss(ones({3}), ones({3, 1})),
                  "mse_loss: input is [3], target is [3, 1]; they must be equal, a loss broadcasts nothing "
                  "(view or squeeze one of them)");
  const Tensor a = ones({2, 3}), b = ones({3});
  CHECK_THROWS_AS(F::l1_loss(a, b), Error);
  CHECK_THROWS_AS(F::smooth_l1_loss(a, b), Error);
  CHECK_THROWS_AS(F::huber_loss(a, b), Error);
  CHECK_THROWS_AS(F::kl_div(a, b), Error);
  CHECK_THROWS_AS(F::binary_cross_entropy(a, b), Error);
  CHECK_THROWS_AS(F::binary_cross_entropy_with_logits(a, b), Error);
  CHECK_THROWS_AS(F::cross_entropy(a, b), Error);
  CHECK_ERROR_HAS(
      F::mse_loss(ones({3}), ones({3}, float64)),
      "mse_loss: input is float32, target is float64; convert the target with to(target, float32)");
  CHECK_ERROR_HAS(F::cross_entropy(ones({4, 3}), zeros({3}, int64)),
                  "input is [4, 3], target is [3]; with classes in dimension 1 the target must be [4]");
  CHECK_THROWS_AS(F::nll_loss(ones({4, 3}), zeros({4, 1}, int64)), Error);
  CHECK_ERROR_HAS(F::mse_loss(a, a, Reduction::batchmean),
                  "mse_loss: the reduction is none, mean or sum; batchmean belongs to kl_div");
}

TEST_CASE("losses do not overflow") {
  const Tensor x = tensor({1e4, -1e4, 1e4, -1e4}).requires_grad_(), t = tensor({1, 0, 0, 1});
  const Tensor loss = F::binary_cross_entropy_with_logits(x, t, {.reduction = Reduction::none});
  CHECK(values(loss) == Values{0, 0, 1e4, 1e4});
  loss.backward(ones({4}));
  CHECK(values(x.grad()) == Values{0, 0, 1, -1});
  const Tensor logits = tensor({{1e4, 0}, {0, 1e4}}).requires_grad_();
  const Tensor each = F::cross_entropy(logits, tensor({0, 0}, int64), {.reduction = Reduction::none});
  CHECK(values(each) == Values{0, 1e4});
  each.backward(ones({2}));
  CHECK(values(logits.grad()) == Values{0, 0, -1, 1});
}

TEST_CASE("cross entropy: by nll_loss and by probabilities is one thing") {
  Generator generator(3);
  const Tensor x = randn({5, 4, 3}, float64, &generator), w = rand({4}, float64, &generator);
  Tensor target = randint(0, 4, {5, 3}, &generator);
  target.mutable_data<int64_t>()[2] = -100;
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    const CrossEntropyOptions options{.weight = w, .reduction = reduction};
    const Tensor nll = F::nll_loss(log_softmax(x, 1), target, options);
    CHECK(largest_difference(F::cross_entropy(x, target, options), nll) < 1e-12);
  }
  const Tensor all = randint(0, 4, {5, 3}, &generator);
  const Tensor probabilities = permute(to(one_hot(all, 4), float64), {0, 2, 1});
  CHECK(F::cross_entropy(x, all, {.label_smoothing = 0.2}).item() ==
        doctest::Approx(F::cross_entropy(x, probabilities, {.label_smoothing = 0.2}).item()).epsilon(1e-12));
}

TEST_CASE("binary cross entropy of certain probabilities has a slope, where they are wrong a steep one") {
  for (const DType dtype :
       {float32, float64}) {  // PyTorch's slope where they are right is 0; the limits are 1 and -1
    const Tensor p = tensor({0, 0, 1, 1}, dtype).requires_grad_();
    const Tensor loss =
        F::binary_cross_entropy(p, tensor({0, 1, 0, 1}, dtype), {.reduction = Reduction::none});
    sum(loss).backward();
    CHECK(values(loss) == Values{0, 100, 100, 0});
    CHECK(largest_difference(values(p.grad()), {1, -1e12, 1e12, -1}, Difference::relative) < 1e-6);
  }
}

TEST_CASE("cross entropy: classes in any dimension, as class_dim says") {
  const Tensor x = randn({2, 3, 4}, float64), target = randint(0, 4, {2, 3}), w = rand({4}, float64);
  const Tensor shares = softmax(randn({2, 3, 4}, float64), -1);
  for (const Reduction reduction : {Reduction::none, Reduction::mean}) {
    CrossEntropyOptions options{.weight = w, .reduction = reduction, .label_smoothing = 0.1};
    const Tensor want = F::cross_entropy(transpose(x), target, options);
    const Tensor of_shares = F::cross_entropy(transpose(x), transpose(shares), options);
    for (const int64_t dim : {-1, 2}) {
      options.class_dim = dim;
      CHECK(largest_difference(F::cross_entropy(x, target, options), want) == 0);
      CHECK(largest_difference(F::cross_entropy(x, shares, options), of_shares) < 1e-15);
    }
    options.class_dim = 0;
    CHECK(largest_difference(F::cross_entropy(permute(x, {2, 0, 1}), target, options), want) == 0);
  }
  CHECK_ERROR_HAS(F::cross_entropy(x, target),
                  "input is [2, 3, 4], target is [2, 3]; with classes in dimension 1 the target must be [2, "
                  "4]; class_dim = -1 says that the last has them");
}

TEST_CASE("cross entropy: nothing that counts gives NaN; one row without a batch") {
  const Tensor x = ones({2, 3});
  CHECK(std::isnan(F::cross_entropy(x, full({2}, -100, int64)).item()));
  CHECK(F::cross_entropy(x, full({2}, -100, int64), {.reduction = Reduction::sum}).item() == 0);
  CHECK(F::cross_entropy(zeros({0, 3}), zeros({0}, int64), {.reduction = Reduction::sum}).item() == 0);
  CHECK(F::cross_entropy(tensor({0, 0}), tensor(1, int64)).item() == doctest::Approx(std::log(2.0)));
}

TEST_CASE("losses: what cannot be is said") {
  const Tensor x = ones({2, 3}), t = zeros({2}, int64);
  CHECK_ERROR_HAS(F::cross_entropy(x, t, {.weight = ones({2})}),
                  "cross_entropy: the weight is float32 [2] and must be float32 [3], one for each class");
  CHECK_THROWS_AS(F::cross_entropy(x, t, {.label_smoothing = 1.5}), Error);
  CHECK_THROWS_AS(F::cross_entropy(x, full({2}, 3, int64)), Error);
  CHECK_THROWS_AS(F::nll_loss(x, full({2}, 3, int64)), Error);
  CHECK_THROWS_AS(F::nll_loss(x, t, {.weight = ones({2})}), Error);
  CHECK_THROWS_AS(F::nll_loss(x, ones({2})), Error);
  CHECK_THROWS_AS(F::cross_entropy(x, t, {.weight = ones({3}).requires_grad_()}), Error);
  CHECK_THROWS_AS(F::cross_entropy(x, t, {.reduction = Reduction::batchmean}), Error);
  CHECK_THROWS_AS(F::binary_cross_entropy(x * 2, x), Error);
  CHECK_THROWS_AS(F::binary_cross_entropy_with_logits(x, x, {.weight = ones({4, 2, 3})}), Error);
  CHECK_THROWS_AS(F::smooth_l1_loss(x, x, Reduction::mean, -1), Error);
  CHECK_THROWS_AS(F::huber_loss(x, x, Reduction::mean, 0), Error);
}

TEST_CASE("losses are recorded where they were called") {
  const Tensor x = ones({2, 3}).requires_grad_();
  const uint32_t line = std::source_location::current().line() + 1;
  const Tensor loss = F::mse_loss(x, ones({2, 3}));
  CHECK(Node::of(loss)->line.line() == line);
  CHECK(std::string(Node::of(loss)->line.file_name()).ends_with("functional_test.cpp"));
}

// covers: C-001-02
TEST_CASE("attention: the worked example, and masks") {
  const Tensor q = tensor({{1, 0, 1}, {0, 1, 1}}), k = tensor({{1, 0, 0}, {0, 1, 1}});
  const Tensor v = tensor({{1, 0}, {0, 1}});
  const auto [y, weights] = F::scaled_dot_product_attention(q, k, v, {.need_weights = true});
  // scores [[1, 1], [0, 2]] / sqrt 3
  const double e = std::exp(2 / std::sqrt(3.0));
  const auto w = values(weights);
  CHECK(w[0] == doctest::Approx(0.5));
  CHECK(w[3] == doctest::Approx(e / (1 + e)));
  CHECK(values(y)[3] == doctest::Approx(e / (1 + e)));
  CHECK_FALSE(F::scaled_dot_product_attention(q, k, v).weights.defined());

  const auto causal = F::scaled_dot_product_attention(q, k, v, {.is_causal = true, .need_weights = true});
  CHECK(values(causal.weights)[0] == 1);
  CHECK(values(causal.weights)[1] == 0);
  const Tensor mask = tensor({{0, 1}, {0, 0}}) > 0;
  const Tensor leaf = q.detach().requires_grad_();
  const auto masked = F::scaled_dot_product_attention(leaf, k, v, {.mask = mask, .need_weights = true});
  CHECK(values(masked.weights) == Values{0, 1, 0, 0});  // the second may attend to nothing
  CHECK(values(masked.output) == Values{0, 1, 0, 0});
  masked.output.backward(ones({2, 2}));
  CHECK(values(leaf.grad()) == Values{0, 0, 0, 0, 0, 0});
  for (const bool need_weights : {true, false})  // a bias of -inf is a mask
    CHECK(values(F::scaled_dot_product_attention(
                     q, k, v, {.bias = tensor({{-kInf, 0}, {-kInf, -kInf}}), .need_weights = need_weights})
                     .output) == Values{0, 1, 0, 0});
  const auto even = F::scaled_dot_product_attention(q, k, v, {.scale = 0, .need_weights = true});
  CHECK(values(even.weights) == Values{0.5, 0.5, 0.5, 0.5});
}

// covers: C-000-18
TEST_CASE("attention: sizes of queries, keys and values may differ; batches broadcast") {
  Generator generator(1);
  const Tensor q = randn({2, 3, 4, 5}, float64, &generator), k = randn({3, 6, 5}, float64, &generator);
  const Tensor v = randn({3, 6, 7}, float64, &generator);
  CHECK(F::scaled_dot_product_attention(q, k, v).output.shape() == Shape{2, 3, 4, 7});
  const auto f = [](const std::vector<Tensor>& in) {
    return F::scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true}).output;
  };
  CHECK(gradcheck(f, {q.requires_grad_(), k.requires_grad_(), v.requires_grad_()}));
  CHECK_ERROR_HAS(F::scaled_dot_product_attention(q, v, v),
                  "scaled_dot_product_attention: query is [2, 3, 4, 5], key is [3, 6, 7], value is [3, 6, "
                  "7]; they must be [..., Tq, D], [..., Tk, D], [..., Tk, Dv]");
}

TEST_CASE("attention: the same bits inside a scope that captures, whichever way is taken") {
  const Tensor k = randn({2, 140, 8}), v = randn({2, 140, 5}), bias = randn({140});
  const Mask mask = rand({140, 140}) < 0.5;
  for (const auto& options : {F::AttentionOptions{}, F::AttentionOptions{.is_causal = true},
                              F::AttentionOptions{.mask = mask, .bias = bias, .scale = 0.2},
                              F::AttentionOptions{.bias = bias.detach().requires_grad_()},
                              F::AttentionOptions{.need_weights = true}}) {
    const Tensor q = randn({2, 140, 8}).requires_grad_();
    const auto run = [&] {
      const Tensor y = F::scaled_dot_product_attention(q, k, v, options).output;
      return std::pair(values(y), values(grad({sum(y * y)}, {q})[0]));
    };
    const auto outside = run();
    const AttentionScope scope;
    CHECK(run() == outside);
    REQUIRE(scope.calls().size() == 1);
    F::AttentionOptions asked = options;
    asked.need_weights = true;
    CHECK(largest_difference(scope.weights(""), F::scaled_dot_product_attention(q, k, v, asked).weights) ==
          0);
    CHECK_FALSE(scope.weights("").requires_grad());
  }
}

// covers: C-100-01
TEST_CASE("attention: what stands in keys that no query may attend to counts for nothing, in either form") {
  const int64_t Tq = 300, Tk = 600;  // several tiles of the blocked form
  const Tensor q = randn({2, Tq, 4}), k = randn({2, Tk, 4}), v = randn({2, Tk, 4});
  const Mask padding = Mask::lengths(tensor({Tk, 130}, int64), Tk);
  const AttentionOptions ways[] = {{.mask = padding},
                                   {.mask = padding & Mask(rand({2, Tq, Tk}) < 0.5)},
                                   {.mask = padding & Mask::causal(Tq, Tk - Tq)},
                                   {.mask = padding, .is_causal = true, .past = Tk - Tq}};
  for (const bool need_weights : {false, true})
    for (AttentionOptions options : ways)
      for (const double bad : {kNaN, kInf, 0.0}) {
        options.need_weights = need_weights;
        const Tensor seen = transpose(padding.allowed());
        const auto run = [&](double filler) {
          return value_and_gradients(
              [&](auto& in) { return F::scaled_dot_product_attention(in[0], in[1], in[2], options).output; },
              {q, where(seen, k, filler), where(seen, v, filler)});
        };
        const Tensors clean = run(1), spoilt = run(bad);
        for (size_t i = 0; i < clean.size(); ++i)
          CHECK((all(isfinite(clean[i])).item<bool>() && largest_difference(clean[i], spoilt[i]) == 0));
      }
}

TEST_CASE("attention: a mask or bias that does not broadcast to the scores is named with the call") {
  const Tensor x = ones({2, 3, 4});
  CHECK_ERROR(F::scaled_dot_product_attention(x, x, x, {.mask = ones({2, 4, 3}, boolean)}),
              "scaled_dot_product_attention: the mask is [2, 4, 3] and must broadcast to the scores, [..., "
              "Tq, Tk] = [2, 3, 3]: aligned at the right each of its sizes is the same or 1");
  for (const bool need_weights : {false, true})
    CHECK_ERROR_HAS(
        F::scaled_dot_product_attention(x, x, x, {.bias = ones({4}), .need_weights = need_weights}),
        "the bias is [4] and must");
}
