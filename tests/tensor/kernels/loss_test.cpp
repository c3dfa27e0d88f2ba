#include "tensor/kernels/loss.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tensor/create.h"

using namespace heed;

namespace {

constexpr double kSmooth = 0.25;

// The formulas of the header, written out.
struct Plain {
  std::vector<double> loss, dx;
};
Plain by_definition(const Tensor& g, const Tensor& x, const kernel::ClassTargets& targets) {
  const auto v = x.to_vector<double>(), up = g.to_vector<double>();
  const auto target = targets.target.to_vector<int64_t>();
  const size_t classes = static_cast<size_t>(x.size(-1));
  const auto w =
      targets.weight.defined() ? targets.weight.to_vector<double>() : std::vector<double>(classes, 1);
  Plain plain{std::vector<double>(target.size(), 0), std::vector<double>(v.size(), 0)};
  for (size_t r = 0; r < target.size(); ++r) {
    if (target[r] == targets.ignore_index) continue;
    double sum = 0, all = 0;
    for (size_t j = 0; j < classes; ++j) sum += std::exp(v[r * classes + j]), all += w[j];
    for (size_t j = 0; j < classes; ++j) {
      const bool hit = static_cast<int64_t>(j) == target[r];
      const double p = std::exp(v[r * classes + j]) / sum, wt = w[static_cast<size_t>(target[r])];
      const double s = targets.smoothing, share = s / static_cast<double>(classes);
      plain.loss[r] -= ((1 - s) * wt * hit + share * w[j]) * std::log(p);
      plain.dx[r * classes + j] = up[r] * ((1 - s) * wt * (p - hit) + share * (p * all - w[j]));
    }
  }
  return plain;
}

void check_near(const Tensor& got, const std::vector<double>& want) {
  const auto values = got.to_vector<double>();
  REQUIRE(values.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) CHECK(values[i] == doctest::Approx(want[i]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("cross entropy kernels are their formulas") {
  Generator generator(4);
  for (const DType dtype : {float32, float64})
    for (const double smoothing : {0.0, kSmooth})
      for (const bool weighted : {false, true}) {
        const Tensor x = randn({7, 19}, dtype, &generator), g = randn({7}, dtype, &generator);
        const Tensor w = weighted ? rand({19}, dtype, &generator) : Tensor();
        const kernel::ClassTargets targets{tensor({3, 0, 18, -1, 3, 7, 7}, int64), w, -1, smoothing};
        const auto [loss, lse] = kernel::cross_entropy(x, targets);
        const Plain plain = by_definition(g, x, targets);
        check_near(loss, plain.loss);
        check_near(kernel::cross_entropy_backward(g, x, lse, targets), plain.dx);
        double total = 0;
        for (const int64_t t : {3, 0, 18, 3, 7, 7})
          total += weighted ? w.to_vector<double>()[static_cast<size_t>(t)] : 1;
        CHECK(kernel::total_weight(targets, 19) == doctest::Approx(total));
      }
}

TEST_CASE("a class that cannot be, at -inf, does no harm to the others") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = tensor({{0, -inf, 0}});
  const kernel::ClassTargets targets{tensor({2}, int64), {}, -100, 0};
  const auto [loss, lse] = kernel::cross_entropy(x, targets);
  CHECK(loss.item() == doctest::Approx(std::log(2.0)));
  check_near(kernel::cross_entropy_backward(ones({1}), x, lse, targets), {0.5, 0, -0.5});
}

TEST_CASE("targets that are no class are named with their position") {
  CHECK_THROWS_WITH_AS(
      kernel::total_weight({tensor({1, 3}, int64), {}, -100, 0}, 3),
      "cross_entropy: the target at position 1 is 3, and the classes are 0 to 2; targets that do not "
      "count are -100 (ignore_index)",
      Error);
  CHECK_THROWS_AS(kernel::total_weight({tensor({-1}, int64), {}, -100, 0}, 3), Error);
  CHECK(kernel::total_weight({tensor({-100, -100}, int64), {}, -100, 0}, 3) == 0);
}
