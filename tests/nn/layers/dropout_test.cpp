#include "nn/layers/dropout.h"

#include "tests/support/expect.h"

TEST_CASE("Dropout: random in training, the identity in eval, equal for equal seeds") {
  Dropout layer(0.5);
  const Tensor x = ones({1000});
  manual_seed(1);
  const auto first = layer(x).to_vector<float>();
  CHECK(layer(x).to_vector<float>() != first);
  manual_seed(1);
  CHECK(layer(x).to_vector<float>() == first);
  layer.eval();
  CHECK(values(layer(x)) == values(x));
  layer.train();
  CHECK(layer(x).to_vector<float>() != x.to_vector<float>());
  CHECK(layer.parameters().empty());
  CHECK_ERROR(Dropout(-0.1), "Dropout: p is -0.1; a probability lies in [0, 1]");
}
