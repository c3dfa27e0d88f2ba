#include "nn/layers/linear.h"

#include "nn/layers/norm.h"
#include "nn/layers/sequential.h"
#include "tests/support/expect.h"

TEST_CASE("Linear: sizes, names") {
  const Linear layer(2, 3);
  CHECK(layer(ones({4, 5, 2})).shape() == Shape{4, 5, 3});
  CHECK(layer(ones({2})).shape() == Shape{3});
  CHECK(layer.in_features() == 2);
  CHECK(layer.out_features() == 3);
  CHECK(test::names(layer.named_parameters()) == Texts{"weight", "bias"});
  CHECK(Linear(2, 3, {.bias = false}).parameters().size() == 1);
}

TEST_CASE("Linear: starts uniform within 1 / sqrt(in)") {
  manual_seed(1);
  const Linear layer(100, 200);
  for (const Tensor& parameter : layer.parameters()) check_fills(parameter, 0.1, 0.95);
  manual_seed(1);
  CHECK(values(Linear(100, 200).weight) == values(layer.weight));
}

TEST_CASE("Linear: an overwritten weight is reported with the layer's path and the lines of the program") {
  Sequential model{Linear(2, 3), Sequential{Linear(3, 3), Linear(3, 1)}};
  const StateDict other = Sequential{model}.state_dict();
  const Tensor y = model(ones({1, 2}));
  const int forward = __LINE__ - 1;
  model.load_state_dict(other);
  CHECK(whole_message([&] { y.backward(); }) ==
        "in 1.1: linear: a tensor of shape [1, 3], saved at " + place(forward) +
            " for the gradient, was overwritten by load_state_dict at " + place(forward + 2) +
            "; write into a clone, or after backward()");
}

TEST_CASE("Linear: integers and invalid sizes throw") {
  CHECK_ERROR(Linear(2, 3)(ones({1, 2}, int64)),
              "linear: x is int64 [1, 2], the weight float32 [3, 2]; convert x with to(x, float32)");
  CHECK_ERROR_HAS(LayerNorm(2)(ones({1, 2}, int64)), "convert with to(x, float32)");
  CHECK_THROWS_AS(Linear(-1, 2), Error);
  CHECK_THROWS_AS(Linear(2, 3)(ones({4, 3})), Error);
  CHECK(Linear(0, 2)(ones({4, 0})).shape() == Shape{4, 2});
}
