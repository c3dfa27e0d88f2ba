#include "examples/by_hand/gradients.h"

#include "tests/support/by_hand.h"

// covers: C-100-07
TEST_CASE("attention_by_hand: with K = V the derivative for the query is the covariance of the keys") {
  const Json r = by_hand("covariance");
  const Tensor keys = tensor({{1, 0, 1}, {0, 2, 1}, {1, 1, 0}, {2, 0, 0}}, float64);
  const Tensor q = tensor({0.5, -0.2, 0.8}, float64), products = mv(keys, q);
  const double third = 1 / std::sqrt(3.0);
  for (const auto& [kind, scores, factor] :
       {std::tuple<std::string, Tensor, double>{"dot", products, 1},
        {"scaled_dot", products * third, third},
        {"gaussian", -0.49 / 2 * sum((q - keys) * (q - keys), 1), 0.49}}) {
    INFO(kind);
    const Tensor a = unsqueeze(softmax(scores, 0), 1), centred = keys - sum(a * keys, 0);
    const Tensor covariance = factor * matmul(transpose(a * centred), centred);
    const Rows want = {values(covariance[0]), values(covariance[1]), values(covariance[2])};
    CHECK(distance(r[kind]["jacobian"], want) < 1e-12);
    CHECK(distance(r[kind]["covariance"], want) < 1e-12);
  }
}

// covers: C-100-08
TEST_CASE("attention_by_hand: the order of backward, and the gradient of a broadcast operand") {
  const Json r = by_hand("graph");
  CHECK(r["autograd"]["x"] == 216);
  CHECK(r["grad"]["in_order"] == 216);
  CHECK(r["grad"]["too_early"] == 108);
  CHECK(r["autograd"]["bias"].get<Values>() == Values{11, 22, 33});
  CHECK(distance(r["grad"]["bias"], {{11, 22, 33}}) == 0);
  CHECK(contains(told_by_hand("graph"), "dx = 18 * 2x = 108, half of it lost"));
}
