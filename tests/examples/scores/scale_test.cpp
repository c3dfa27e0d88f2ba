#include "examples/scores/scale.h"

#include "tests/support/results.h"

TEST_CASE("scores --compare scale: entropy of a row of weights") {
  const Tensor a = tensor({{0.25, 0.25, 0.25, 0.25}, {0, 1, 0, 0}, {0.5, 0, 0.5, 0}}, float64);
  const Tensor entropy = program::row_entropy(a);
  CHECK(largest_difference(entropy, tensor({std::log(4), 0, std::log(2)}, float64)) < 1e-15);
}

TEST_CASE("scores --compare scale: the norm of softmax's Jacobian equals autograd's") {
  const Tensor s = tensor({{1, -2, 0.5}, {0, 0, 9}}, float64).requires_grad_();
  const Tensor a = softmax(s, -1);
  Values squares(2);
  for (int64_t j = 0; j < 3; ++j) {
    const Tensor g = grad({sum(select(a, 1, j))}, {s}, {.retain_graph = true})[0];
    for (int64_t i = 0; i < 2; ++i) squares[i] += dot(g[i], g[i]).item();
  }
  const Values norms = program::jacobian_norm(a.detach()).to_vector<double>();
  CHECK(largest_difference(norms, {std::sqrt(squares[0]), std::sqrt(squares[1])}) < 1e-12);
}

// covers: C-001-10 C-001-11
TEST_CASE("scores --compare scale: q . k has variance d; without 1/sqrt(d) the softmax saturates") {
  const Folder folder;
  const Json rows = results_of("scores", "--compare scale --seed 3 --out " + folder.path.string())["scale"];
  REQUIRE(rows.size() == 5);
  CHECK(rows[0]["d"] == 4);
  CHECK(rows[2]["d"] == 64);
  CHECK(rows[4]["d"] == 512);
  const auto number = [&](size_t row, const char* name) { return rows[row][name].get<double>(); };
  for (size_t i = 0; i < rows.size(); ++i) {
    const double d = number(i, "d");
    CAPTURE(d);
    CHECK(number(i, "variance") == doctest::Approx(d).epsilon(0.1));
    CHECK(number(i, "variance_scaled") == doctest::Approx(1).epsilon(0.1));
    // The expected entropy of softmax for 8 normal scores is 1.73 for any d.
    CHECK(number(i, "entropy_scaled") == doctest::Approx(1.73).epsilon(0.05));
    CHECK(number(i, "jacobian_scaled") == doctest::Approx(0.365).epsilon(0.05));
    CHECK(number(i, "dead_scaled") == 0);
    CHECK(number(i, "least") > 0);  // small, but never exactly zero
    if (i == 0) continue;
    CHECK(number(i, "entropy") < 0.7 * number(i - 1, "entropy"));
    CHECK(number(i, "jacobian") < number(i - 1, "jacobian"));
  }
  CHECK(number(4, "jacobian") < number(4, "jacobian_scaled") / 5);
  CHECK(number(4, "gradient") < number(4, "gradient_scaled") / 5);
  CHECK(number(4, "dead") > 0.5);
  CHECK(read_file(folder / "scale.csv").starts_with("d,scaled,unscaled\n4,"));
  CHECK(contains(read_file(folder / "scale.gp"), "'scale.csv'"));
}
