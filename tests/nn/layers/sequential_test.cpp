#include "nn/layers/sequential.h"

#include "autograd/ops/activation.h"
#include "nn/layers/activation.h"
#include "nn/layers/dropout.h"
#include "nn/layers/linear.h"
#include "tests/support/expect.h"

static Tensor twice(const Tensor& x) { return x * 2; }

TEST_CASE("Sequential: any callable parts, called in order and named by number") {
  const Tensor shift = ones({3});
  Sequential model{Linear(4, 3), ReLU(), [shift](const Tensor& x) { return x + shift; }, twice,
                   Sequential{Tanh(), Linear(3, 2)}};
  CHECK(test::names(model.named_parameters()) == Texts{"0.weight", "0.bias", "4.1.weight", "4.1.bias"});
  CHECK(model.size() == 5);
  const Tensor x = randn({5, 4});
  const Tensor y = model(x);
  const auto& first = model.get<Linear>(0);
  const auto& last = model.get<Sequential>(4).get<Linear>(1);
  CHECK(values(y) == values(last(tanh((relu(first(x)) + 1) * 2))));
  CHECK(test::unregistered_leaves(y, model) == "");
  CHECK_ERROR(model.get<Linear>(1), "Sequential: part 1 is of another type");
  CHECK_ERROR(model.get<Linear>(5), "Sequential: there is no part 5 among 5");
  CHECK(Sequential()(x).same_as(x));
}

TEST_CASE("Sequential: initializes its parts in order") {
  manual_seed(3);
  const Linear first(2, 3), last(3, 2);
  manual_seed(3);
  const Sequential model{Linear(2, 3), Tanh(), Linear(3, 2)};
  CHECK(values(model.get<Linear>(0).weight) == values(first.weight));
  CHECK(values(model.get<Linear>(2).bias) == values(last.bias));
}

TEST_CASE("Sequential: copies share nothing, assignment writes in place, moves keep identity") {
  Sequential a{Linear(2, 2), Dropout(), [n = 1](const Tensor& x) { return x * n; }};
  Sequential b = a;
  const Tensor at_a = a.get<Linear>(0).weight;
  CHECK_FALSE(at_a.same_as(b.get<Linear>(0).weight));
  b.get<Linear>(0).weight = full({2, 2}, 5);
  CHECK(at_a.to_vector<float>() != b.get<Linear>(0).weight.to_vector<float>());
  b.eval();
  a = b;
  CHECK(at_a.same_as(a.get<Linear>(0).weight));
  CHECK(values(at_a) == Values(4, 5));
  CHECK_FALSE(a.get<Dropout>(1).training());
  const Tensor at_b = b.get<Linear>(0).weight;
  std::swap(a, b);
  CHECK(at_a.same_as(b.get<Linear>(0).weight));
  CHECK(at_b.same_as(a.get<Linear>(0).weight));
  a = Sequential{ReLU()};
  CHECK(a.parameters().empty());
  CHECK(a.size() == 1);
  Sequential outer{Sequential{ReLU(), Linear(2, 2)}, Linear(2, 2)};
  outer = outer.get<Sequential>(0);  // a part that is destroyed by the assignment
  CHECK(outer.size() == 2);
}

TEST_CASE("Sequential: a model in float64, trained and switched as one") {
  Sequential model{Linear(2, 2), Dropout(0.9)};
  model.to(float64);
  model.eval();
  const Tensor x = ones({1, 2}, float64);
  CHECK(values(model(x)) == values(model(x)));
  CHECK(model(x).dtype() == float64);
  Sequential grown;
  for (int i = 0; i < 3; ++i) grown.push_back(Linear(2, 2));
  CHECK(test::names(grown.named_parameters()).back() == "2.bias");
}
