#include "nn/attention/position.h"

#include <thread>

#include "tests/support/expect.h"

// covers: C-100-03
TEST_CASE("SinusoidalPosition: sines and cosines of p / 10000^(2i/E), odd widths too") {
  for (const int64_t width : {1, 2, 5, 8}) {
    const SinusoidalPosition position(width);
    const Tensor table = position.table(7, 3, float64);
    REQUIRE(table.shape() == Shape{7, width});
    for (int64_t p = 0; p < 7; ++p)
      for (int64_t c = 0; c < width; ++c) {
        const double angle = double(p + 3) / std::pow(10000.0, double(c / 2 * 2) / double(width));
        CHECK(table[{p, c}].item() ==
              doctest::Approx(c % 2 ? std::cos(angle) : std::sin(angle)).epsilon(1e-12));
      }
    const Tensor x = randn({2, 7, width});
    CHECK(largest_difference(position(x, 3), x + position.table(7, 3)) == 0);
    CHECK(largest_difference(position(narrow(x, 1, 4, 3), 4), narrow(position(x), 1, 4, 3)) == 0);
  }
  CHECK(SinusoidalPosition(4).state_dict().empty());
  CHECK(SinusoidalPosition(4)(ones({0, 4})).shape() == Shape{0, 4});
}

TEST_CASE("SinusoidalPosition: caches one table, replaced by a longer one or another dtype, in any thread") {
  const SinusoidalPosition position(6);
  const auto same = [](const Tensor& a, const Tensor& b) { return a.data<float>() == b.data<float>(); };
  const Tensor first = position.table(5);
  CHECK(same(position.table(5), first));
  CHECK(same(position.table(3, 2), narrow(first, 0, 2, 3)));
  const Tensor longer = position.table(100);
  CHECK_FALSE(same(longer, first));
  CHECK(largest_difference(narrow(longer, 0, 0, 5), first) == 0);
  CHECK(largest_difference(position.table(100, 0, float64), longer) < 1e-7);
  const int64_t far = int64_t{1} << 40;  // the table does not start at 0
  CHECK(position.table(2, far, float64)[{1, 0}].item() ==
        doctest::Approx(std::sin(static_cast<double>(far + 1))).epsilon(1e-9));
  const SinusoidalPosition copy = position;
  CHECK(largest_difference(copy.table(100), longer) == 0);
  std::vector<std::thread> threads;
  Tensors tables(4);
  for (Tensor& table : tables)
    threads.emplace_back([&] {
      for (int64_t length = 1; length < 200; ++length) table = position.table(length, 0, float64);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& table : tables)
    CHECK(largest_difference(table, SinusoidalPosition(6).table(199, 0, float64)) == 0);
}

// covers: C-100-03
TEST_CASE("SinusoidalPosition: PE(p + d) is PE(p), each pair rotated by an angle that depends on d alone") {
  const int64_t length = 40;
  for (const int64_t width : {6, 7}) {
    const Tensor table = SinusoidalPosition(width).table(length, 0, float64);
    for (const int64_t d : {1, 5, 17}) {
      const auto angle = [&](int64_t i) {
        return static_cast<double>(d) / std::pow(10000.0, static_cast<double>(2 * i) / double(width));
      };
      for (int64_t i = 0; i < width / 2; ++i) {
        const double c = std::cos(angle(i)), s = std::sin(angle(i));
        const Tensor R = tensor({{c, -s}, {s, c}}, float64);  // (sin(a + t), cos(a + t)) = (sin a, cos a) R
        const Tensor pair = narrow(table, 1, 2 * i, 2), rotated = matmul(narrow(pair, 0, 0, length - d), R);
        CHECK(largest_difference(narrow(pair, 0, d, length - d), rotated) < 1e-12);
      }
      if (width % 2 == 0) continue;
      // The last sine of an odd width is rotated with a cosine that is not in the table.
      const double p = 11, f = angle(width / 2) / static_cast<double>(d);
      CHECK(table[{11 + d, width - 1}].item() ==
            doctest::Approx(std::sin(p * f) * std::cos(angle(width / 2)) +
                            std::cos(p * f) * std::sin(angle(width / 2))));
    }
  }
}

// covers: C-100-03
TEST_CASE("LearnedPosition: one row for each position, up to max_length") {
  const LearnedPosition position(4, 3);
  const Tensor x = randn({2, 3, 3});
  CHECK(largest_difference(position(x), x + narrow(position.weight, 0, 0, 3)) == 0);
  CHECK(largest_difference(position(x, 1), x + narrow(position.weight, 0, 1, 3)) == 0);
  CHECK(position.named_parameters().at(0).name == "weight");
  const Tensor many = LearnedPosition(1000, 32).weight;  // the variance of sinusoids
  const Tensor table = SinusoidalPosition(32).table(1000);
  CHECK(mean(many * many).item() == doctest::Approx(mean(table * table).item()).epsilon(0.02));
  CHECK_ERROR_HAS(position(x, 2),
                  "LearnedPosition: x [2, 3, 3] has positions up to 2 + 3, and max_length is 4");
  CHECK_THROWS_AS(position(x, INT64_MAX), Error);
  CHECK_THROWS_AS(position(x, -1), Error);
  CHECK_ERROR_HAS(position(ones({2, 3, 4})), "LearnedPosition: x is [2, 3, 4]; it must be [..., T, 3]");
}

TEST_CASE("RotaryPosition: rotates pairs by the position; products depend on the distance only") {
  const RotaryPosition rotary(6);
  manual_seed(1);
  const Tensor q = randn({1, 6}, float64), k = randn({1, 6}, float64);
  const auto product = [&](int64_t i, int64_t j) { return sum(rotary(q, i) * rotary(k, j)).item(); };
  CHECK(values(rotary(q)) == values(q));
  CHECK(product(3, 1) == doctest::Approx(product(19, 17)).epsilon(1e-12));
  CHECK(product(3, 1) != doctest::Approx(product(1, 3)).epsilon(1e-3));
  CHECK(product(3, 1) != doctest::Approx(product(3, 2)).epsilon(1e-3));

  // The first pair is rotated by p, the last by p / 10000^(4/6).
  const Tensor e = tensor({{1, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 1}}, float64);
  const auto rotated = rotary(e, 4)[1].to_vector<double>();
  const double slow = 5 / std::pow(10000.0, 4.0 / 6.0);
  CHECK(rotated[0] == doctest::Approx(std::cos(5.0)));
  CHECK(rotated[1] == doctest::Approx(std::sin(5.0)));
  CHECK(rotated[4] == doctest::Approx(-std::sin(slow)));
  CHECK(rotated[5] == doctest::Approx(std::cos(slow)));

  const Tensor x = randn({2, 3, 6}, float64).requires_grad_();
  CHECK(gradcheck([&](const Tensors& in) { return rotary(in[0], 2); }, {x}));
  CHECK(rotary.state_dict().empty());
  CHECK_ERROR_HAS(RotaryPosition(5), "dim is 5; it must be even and positive");
}

TEST_CASE("RotaryPosition: another base, interpolation and NTK-aware scaling") {
  const Tensor x = randn({2, 5, 6}, float64);
  const auto rotated = [&](const RotaryOptions& options) { return RotaryPosition(6, options)(x, 2); };
  CHECK(largest_difference(rotated({}), RotaryPosition(6)(x, 2)) == 0);
  // Interpolation by 2: position 2p is rotated as p was.
  const Tensor every_second =
      slice(RotaryPosition(6, {.position_factor = 2})(repeat(x, {1, 2, 1})), 1, 0, 10, 2);
  CHECK(largest_difference(every_second,
                           RotaryPosition(6)(index_select(x, 1, tensor({0, 2, 4, 1, 3}, int64)))) < 1e-14);
  CHECK(largest_difference(rotated({.ntk_factor = 4}), rotated({.base = 10000 * std::pow(4, 1.5)})) < 1e-12);
  // The slowest pair, 2i = D - 2, turns 4 times as slowly, and the fastest as before.
  const Tensor unit = tensor({{1, 0, 1, 0, 1, 0}}, float64);
  const Tensor y = RotaryPosition(6, {.ntk_factor = 4})(unit, 3)[0];
  CHECK(y[0].item() == doctest::Approx(std::cos(3)).epsilon(1e-12));
  CHECK(y[5].item() == doctest::Approx(std::sin(3 / std::pow(10000, 4.0 / 6) / 4)).epsilon(1e-12));
  CHECK_ERROR_HAS(RotaryPosition(2, {.ntk_factor = 2}), "and ntk_factor 1 if dim is 2");
  CHECK_THROWS_AS(RotaryPosition(4, {.base = 0}), Error);
}
