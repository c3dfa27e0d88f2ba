#include <nlohmann/json.hpp>

#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace heed;
using Json = nlohmann::json;
using Rows = std::vector<Values>;

namespace {

Json results(const std::string& example) { return results_of("attention_by_hand", "--example " + example); }

Rows rows(const Json& matrix) { return matrix.get<Rows>(); }

// The largest distance between elements, infinite for other sizes and NaN.
double distance(const Json& a, const Rows& b) {
  const Rows x = rows(a);
  double most = x.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < x.size() && i < b.size(); ++i) most = std::max(most, largest_difference(x[i], b[i]));
  return most;
}

std::string text_of(const std::string& example) {
  const Run done = run_program("attention_by_hand", "--example " + example);
  CHECK(done.code == 0);
  return done.out;
}

}  // namespace

// covers: C-004-06 C-001-02
TEST_CASE("attention_by_hand: the worked example, forward and backward") {
  const Json r = results("worked");
  CHECK(distance(r["scores"], {{1, 1}, {1, 2}}) == 0);
  CHECK(distance(r["scaled"], {{0.57735, 0.57735}, {0.57735, 1.15470}}) < 1e-5);
  CHECK(distance(r["weights"], {{0.5, 0.5}, {0.3595, 0.6405}}) < 5e-5);
  const double a = 1 / (1 + std::exp(1 / std::sqrt(3.0)));  // weight of the first key in row 2
  CHECK(distance(r["output"], {{2, 3}, {a + 3 * (1 - a), 2 * a + 4 * (1 - a)}}) < 1e-14);
  // dZ = a (1 - a) (7 - 3) between the two keys, over sqrt 3; rows of dQ are its product with K.
  const double s = 0.25 * 4 / std::sqrt(3.0), u = a * (1 - a) * 4 / std::sqrt(3.0);
  CHECK(distance(r["grad"]["Q"], {{-s, 0, s}, {-u, 0, u}}) < 1e-14);
  CHECK(distance(r["grad"]["K"], {{-s, -u, -s - u}, {s, u, s + u}}) < 1e-14);
  CHECK(distance(r["grad"]["V"], {{0.5 + a, 0.5 + a}, {1.5 - a, 1.5 - a}}) < 1e-14);
  const std::string text = text_of("worked");
  for (const char* step : {"scores = Q K^T: a row for each query, a column for each key   [2, 2]",
                           "0.3595    0.6405", "dV = weights^T dO   [2, 2]", "dQ = dscores K   [2, 3]"})
    CHECK(contains(text, step));
}

// covers: C-004-09
TEST_CASE("attention_by_hand: Thinking Machines divides by 8") {
  const Json r = results("thinking-machines");
  CHECK(distance(r["scores"], {{112, 96}, {72, 32}}) == 0);
  CHECK(distance(r["scaled"], {{14, 12}, {9, 4}}) == 0);
  CHECK(distance(r["weights"], {{0.8808, 0.1192}, {0.9933, 0.0067}}) < 5e-5);
  CHECK(rows(r["output"])[0].size() == 64);
  const std::string text = text_of("thinking-machines");
  size_t at = 0;  // every step, one after the other
  for (const char* step :
       {"-- project: Q = X W_Q, K = X W_K, V = X W_V", "Q   [2, 64]", "K   [2, 64]", "V: its width",
        "scores = Q K^T: a row for each query, a column for each key   [2, 2]\n  112.0000   96.0000",
        "scaled = scores / sqrt(64) = scores / 8   [2, 2]\n   14.0000   12.0000",
        "weights = softmax over the keys: each row sums to 1   [2, 2]\n    0.8808    0.1192",
        "output = weights V: values are mixed, not keys   [2, 64]"}) {
    INFO(step);
    at = text.find(step, at);
    REQUIRE(at != text.npos);
  }
}

// covers: C-001-12
TEST_CASE("attention_by_hand: one output row is a ledger of weight times value, summed over the sources") {
  const Json r = results("mix");
  const Rows ledger = rows(r["ledger"]), weights = rows(r["weights"]);
  const Rows values = {{1, 0, 1}, {0, 2, 1}, {1, 1, 0}, {2, 0, 0}};
  Rows sum = {{0, 0, 0}};
  for (size_t j = 0; j < 4; ++j)
    for (size_t c = 0; c < 3; ++c) {
      CHECK(ledger[j][c] == doctest::Approx(weights[1][j] * values[j][c]).epsilon(1e-14));
      sum[0][c] += ledger[j][c];
    }
  CHECK(distance(Json::array({r["output"][1]}), sum) < 1e-14);
  for (size_t j = 0; j < 4; ++j)  // the slope of the row in each value is its weight
    for (size_t c = 0; c < 3; ++c)
      CHECK(r["autograd"]["V"][j][c].get<double>() == doctest::Approx(weights[1][j]));
  CHECK(contains(text_of("mix"), "cat      0.7508"));
}

// covers: C-002-14
TEST_CASE("attention_by_hand: four inputs, four outputs, z_i = sum_j a_ij x_j") {
  const Json r = results("four");
  const Rows a = rows(r["weights"]), x = {{1, 0, 1}, {0, 2, 1}, {1, 1, 0}, {2, 0, 0}};
  Rows z(4, Values(3));
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j)
      for (size_t c = 0; c < 3; ++c) z[i][c] += a[i][j] * x[j][c];
  CHECK(distance(r["output"], z) < 1e-14);
  CHECK(contains(text_of("four"),
                 "z_1 = 0.3202 x_1 + 0.1798 x_2 + 0.1798 x_3 + 0.3202 x_4 = (1.14, 0.5393, 0.5)"));
}

// covers: C-100-07
TEST_CASE("attention_by_hand: with K = V the slope in the query is the covariance of the keys") {
  const Json r = results("covariance");
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
  const Json r = results("graph");
  CHECK(r["autograd"]["x"] == 216);
  CHECK(r["grad"]["in_order"] == 216);
  CHECK(r["grad"]["too_early"] == 108);
  CHECK(r["autograd"]["bias"].get<Values>() == Values{11, 22, 33});
  CHECK(distance(r["grad"]["bias"], {{11, 22, 33}}) == 0);
  CHECK(contains(text_of("graph"), "dx = 18 * 2x = 108, half of it lost"));
}

TEST_CASE("attention_by_hand: gradients of every example equal autograd's; the weights are drawn") {
  for (const char* example : {"worked", "thinking-machines", "mix", "four"}) {
    INFO(example);
    const Folder folder;
    const Json r = results_of("attention_by_hand",
                              std::string("--example ") + example + " --out '" + folder / "out" + "'");
    for (const char* of : {"Q", "K", "V"}) CHECK(distance(r["autograd"][of], rows(r["grad"][of])) <= 1e-12);
    CHECK(contains(read_file(folder / "out/weights.svg"), "<svg"));
  }
}

TEST_CASE("attention_by_hand: what it does not know it refuses") {
  CHECK(contains(refusal_of("attention_by_hand", "--example all"), "worked"));
}
