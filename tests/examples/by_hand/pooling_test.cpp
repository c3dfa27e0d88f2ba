#include "examples/by_hand/pooling.h"

#include "tests/support/by_hand.h"

// covers: C-000-09 C-000-11
TEST_CASE("attention_by_hand: the Gaussian kernel is a softmax; regression and attention share one pooling") {
  const Json r = by_hand("gaussian");
  const Values x = {0, 0.5, 1.5, 3, 4}, y = {1, 2, 0, 4, 3};
  const auto f = [&](double query, Values* weights = nullptr) {
    double sum = 0, total = 0;
    for (size_t i = 0; i < 5; ++i) {
      const double k = std::exp(-(query - x[i]) * (query - x[i]) / 2);
      total += k;
      sum += k * y[i];
      if (weights) weights->push_back(k);
    }
    for (size_t i = 0; weights && i < 5; ++i) (*weights)[i] /= total;
    return sum / total;
  };
  Values weights;
  const double value = f(1, &weights), slope = (f(1 + 1e-5) - f(1 - 1e-5)) / 2e-5;
  CHECK(distance(r["kernel_weights"], {weights}) < 1e-14);
  CHECK(distance(r["softmax_weights"], {weights}) < 1e-14);
  for (const char* way : {"by_hand", "kernel", "softmax", "regression", "scaled_dot", "multi_head"}) {
    INFO(way);
    CHECK(std::fabs(r["output"][way].get<double>() - value) < 1e-12);
    CHECK(std::fabs(r["gradient"][way].get<double>() - r["gradient"]["by_hand"].get<double>()) < 1e-12);
    CHECK(r["gradient"][way].get<double>() == doctest::Approx(slope).epsilon(1e-6));
  }
  CHECK(contains(told_by_hand("gaussian"), "K / sum K  -(x - x_i)^2/2   softmax  difference"));
}

// covers: C-003-12 C-003-15
TEST_CASE("attention_by_hand: the mean of hard choices converges to the soft output") {
  const Folder folder;
  const Json r = by_hand("hard", "--seed 5 --out '" + folder / "out" + "'");
  // exp(q . k / sqrt(2)) for q = (0.4, 0.2) and the corners of a rectangle
  const Values e = {1, std::exp(1.6 / std::sqrt(2.0)), std::exp(2.2 / std::sqrt(2.0)),
                    std::exp(0.6 / std::sqrt(2.0))};
  const double all = e[0] + e[1] + e[2] + e[3];
  const Values soft = {4 * (e[1] + e[2]) / all, 3 * (e[2] + e[3]) / all};
  for (const char* of : {"output", "plain", "key_value"}) CHECK(distance(r[of], {soft}) < 1e-12);
  CHECK(rows(r["plain"]) == rows(r["key_value"]));
  CHECK(r["inside"].get<double>() == doctest::Approx(std::min(4 - soft[0], 3 - soft[1])));
  const double variance = (16 * e[1] + 25 * e[2] + 9 * e[3]) / all - soft[0] * soft[0] - soft[1] * soft[1];
  double samples = 10;
  REQUIRE(r["rows"].size() == 4);
  for (const Json& row : r["rows"]) {
    CHECK(row["samples"] == samples);
    const double expected = std::sqrt(variance / samples);
    CHECK(row["expected"].get<double>() == doctest::Approx(expected));
    for (const char* by : {"by_hand", "by_library"})  // root mean square of 64 samples
      CHECK(row[by].get<double>() == doctest::Approx(expected).epsilon(0.3));
    CHECK(distance(row["mean"], {soft}) < 5 * expected);
    samples *= 10;
  }
  CHECK(read_file(folder / "out/hard.csv").starts_with("S,by_hand,by_library,expected\n10,"));
  CHECK(by_hand("hard", "--seed 5") == r);
  CHECK(by_hand("hard", "--seed 6") != r);
}
