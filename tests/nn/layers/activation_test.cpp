#include "nn/layers/activation.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops.h"

using namespace heed;

namespace {

template <class L>
void check_values(const L& layer, const std::vector<double>& want) {
  const auto got = layer(tensor({-1, 0, 2}, float64)).template to_vector<double>();
  for (size_t i = 0; i < 3; ++i) CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-12));
  CHECK(layer.parameters().empty());
}

}  // namespace

TEST_CASE("activations are their functions") {
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto phi = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  const double sum = std::exp(-1.0) + 1 + std::exp(2.0);
  check_values(Identity(), {-1, 0, 2});
  check_values(ReLU(), {0, 0, 2});
  check_values(LeakyReLU(), {-0.01, 0, 2});
  check_values(LeakyReLU(0.2), {-0.2, 0, 2});
  check_values(ELU(2), {2 * std::expm1(-1), 0, 2});
  check_values(GELU(), {-phi(-1), 0, 2 * phi(2)});
  check_values(SiLU(), {-logistic(-1), 0, 2 * logistic(2)});
  check_values(Tanh(), {std::tanh(-1), 0, std::tanh(2)});
  check_values(Sigmoid(), {logistic(-1), 0.5, logistic(2)});
  check_values(Softplus(), {std::log1p(std::exp(-1)), std::log(2.0), std::log1p(std::exp(2))});
  check_values(Softplus(2, 3), {std::log1p(std::exp(-2)) / 2, std::log(2.0) / 2, 2});
  check_values(Softmax(), {std::exp(-1) / sum, 1 / sum, std::exp(2) / sum});
  check_values(LogSoftmax(0), {-1 - std::log(sum), -std::log(sum), 2 - std::log(sum)});
  CHECK(GELU(Gelu::tanh)(tensor(1, float64)).item() == doctest::Approx(0.841192).epsilon(1e-6));
}

TEST_CASE("Flatten joins all dimensions but the first, or those it is told") {
  CHECK(Flatten()(ones({2, 3, 4})).shape() == Shape{2, 12});
  CHECK(Flatten(0)(ones({2, 3, 4})).shape() == Shape{24});
  CHECK(Flatten(0, 1)(ones({2, 3, 4})).shape() == Shape{6, 4});
}
