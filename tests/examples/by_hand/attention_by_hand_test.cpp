#include "tests/support/by_hand.h"

// covers: C-004-06 C-001-02
TEST_CASE("attention_by_hand: the worked example, forward and backward") {
  const Json r = by_hand("worked");
  CHECK(distance(r["scores"], {{1, 1}, {1, 2}}) == 0);
  CHECK(distance(r["scaled"], {{0.57735, 0.57735}, {0.57735, 1.15470}}) < 1e-5);
  CHECK(distance(r["weights"], {{0.5, 0.5}, {0.3595, 0.6405}}) < 5e-5);
  const double a = 1 / (1 + std::exp(1 / std::sqrt(3.0)));  // weight of the first key in row 2
  CHECK(distance(r["output"], {{2, 3}, {a + 3 * (1 - a), 2 * a + 4 * (1 - a)}}) < 1e-14);
  // dZ = a (1 - a) (7 - 3) / sqrt(3) between the two keys; dQ = dZ K.
  const double s = 0.25 * 4 / std::sqrt(3.0), u = a * (1 - a) * 4 / std::sqrt(3.0);
  CHECK(distance(r["grad"]["Q"], {{-s, 0, s}, {-u, 0, u}}) < 1e-14);
  CHECK(distance(r["grad"]["K"], {{-s, -u, -s - u}, {s, u, s + u}}) < 1e-14);
  CHECK(distance(r["grad"]["V"], {{0.5 + a, 0.5 + a}, {1.5 - a, 1.5 - a}}) < 1e-14);
  const std::string text = told_by_hand("worked");
  for (const char* step : {"scores = Q K^T: a row for each query, a column for each key   [2, 2]",
                           "0.3595    0.6405", "dV = weights^T dO   [2, 2]", "dQ = dscores K   [2, 3]"})
    CHECK(contains(text, step));
}

// covers: C-004-09
TEST_CASE("attention_by_hand: Thinking Machines divides by 8") {
  const Json r = by_hand("thinking-machines");
  CHECK(distance(r["scores"], {{112, 96}, {72, 32}}) == 0);
  CHECK(distance(r["scaled"], {{14, 12}, {9, 4}}) == 0);
  CHECK(distance(r["weights"], {{0.8808, 0.1192}, {0.9933, 0.0067}}) < 5e-5);
  CHECK(rows(r["output"])[0].size() == 64);
  const std::string text = told_by_hand("thinking-machines");
  size_t at = 0;  // steps appear in order
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
TEST_CASE("attention_by_hand: an output row is the sum over the sources of weight times value") {
  const Json r = by_hand("mix");
  const Rows ledger = rows(r["ledger"]), weights = rows(r["weights"]);
  const Rows values = {{1, 0, 1}, {0, 2, 1}, {1, 1, 0}, {2, 0, 0}};
  Rows sum = {{0, 0, 0}};
  for (size_t j = 0; j < 4; ++j)
    for (size_t c = 0; c < 3; ++c) {
      CHECK(ledger[j][c] == doctest::Approx(weights[1][j] * values[j][c]).epsilon(1e-14));
      sum[0][c] += ledger[j][c];
    }
  CHECK(distance(Json::array({r["output"][1]}), sum) < 1e-14);
  for (size_t j = 0; j < 4; ++j)  // the derivative of the row for each value is its weight
    for (size_t c = 0; c < 3; ++c)
      CHECK(r["autograd"]["V"][j][c].get<double>() == doctest::Approx(weights[1][j]));
  CHECK(contains(told_by_hand("mix"), "cat      0.7508"));
}

// covers: C-002-14
TEST_CASE("attention_by_hand: four inputs, four outputs, z_i = sum_j a_ij x_j") {
  const Json r = by_hand("four");
  const Rows a = rows(r["weights"]), x = {{1, 0, 1}, {0, 2, 1}, {1, 1, 0}, {2, 0, 0}};
  Rows z(4, Values(3));
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j)
      for (size_t c = 0; c < 3; ++c) z[i][c] += a[i][j] * x[j][c];
  CHECK(distance(r["output"], z) < 1e-14);
  CHECK(contains(told_by_hand("four"),
                 "z_1 = 0.3202 x_1 + 0.1798 x_2 + 0.1798 x_3 + 0.3202 x_4 = (1.14, 0.5393, 0.5)"));
}

// covers: C-002-12
TEST_CASE("attention_by_hand: every output sees every input; if causal, no later input") {
  const Json r = by_hand("four")["jacobian"];
  const Tensor x = tensor({{1, 0, 1}, {0, 2, 1}, {1, 1, 0}, {2, 0, 0}}, float64);
  for (const bool causal : {false, true}) {
    const auto z = [&](const Tensor& inputs) {
      const Tensor scores = matmul(inputs, t(inputs)) / std::sqrt(3.0);
      return matmul(softmax(causal ? scores + triu(full({4, 4}, -1e9, float64), 1) : scores, 1), inputs);
    };
    const Rows norms = rows(r[causal ? "causal" : "all"]);
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 4; ++j) {
        double squares = 0;  // numeric
        for (int64_t c = 0; c < 3; ++c) {
          Tensor step = zeros({4, 3}, float64);
          step.mutable_data<double>()[j * 3 + c] = 1e-5;
          const Tensor slope = (z(x + step)[i] - z(x - step)[i]) / 2e-5;
          squares += dot(slope, slope).item();
        }
        const double norm = norms[static_cast<size_t>(i)][static_cast<size_t>(j)];
        CHECK(norm == doctest::Approx(std::sqrt(squares)).epsilon(1e-6));
        CHECK((norm == 0) == (causal && j > i));
      }
  }
}

TEST_CASE("attention_by_hand: gradients of every example equal autograd's; the weights are plotted") {
  for (const char* example : {"worked", "thinking-machines", "mix", "four"}) {
    INFO(example);
    const Folder folder;
    const Json r = by_hand(example, "--out '" + folder / "out" + "'");
    for (const char* of : {"Q", "K", "V"}) CHECK(distance(r["autograd"][of], rows(r["grad"][of])) <= 1e-12);
    CHECK(contains(read_file(folder / "out/weights.svg"), "<svg"));
  }
}

TEST_CASE("attention_by_hand: examples begin with a formula and end with a statement about their numbers") {
  const std::vector<std::pair<std::string, std::array<std::string, 2>>> told = {
      {"worked", {"A = softmax of each row of Z    O = A V", "gives it the weight 0.6405"}},
      {"thinking-machines", {"Q = X W_Q    K = X W_K", "are (14, 12), and a difference of 2 gives"}},
      {"mix", {"oᵢ = Σⱼ aᵢⱼ vⱼ", "is 75.08 % its own value (0, 2, 1)"}},
      {"four", {"∂zᵢ/∂xⱼ = aᵢⱼ (I", "z1 = (1.14, 0.5393, 0.5) holds at least 0.1798 of every x"}},
      {"gaussian", {"= softmaxᵢ(−(x − xᵢ)² / 2)", "so f(1) = 1.17 and f′(1) = 0.01891"}},
      {"hard", {"Σᵢ αᵢ vᵢ = E[v_z]", "tends to the soft output (3.024, 1.814)"}},
      {"multi-head",
       {"Σₕ headₕ W_Oₕ", "head 1 gives \"the\" the weight 0.8066, head 2 \"sat\" the weight 0.8066"}},
      {"cache", {"from the cache", "compute 20 scores, without it 60"}},
      {"masks", {"else −∞", "the gradient (0, 0, 0), where plain softmax says nan."}},
      {"positions", {"PE(p)₂ᵢ = sin(p ωᵢ)", "so do q at 3 and k at 4, 1.679"}},
      {"context", {"cos(a, b)", "in both sentences, cosine 1; after"}},
      {"covariance", {"∂o/∂q = c Covₐ(k)", "the variance of the keys' first numbers"}},
      {"graph", {"a = x x    b = 2 a", "in order dx is 216, as 8 x³ says, and too early it is 108"}}};
  for (const auto& [example, parts] : told) {
    INFO(example);
    const Texts lines = lines_of(told_by_hand(example));
    REQUIRE(lines.size() > 10);
    CHECK(lines[0].find_first_of("0123456789") == std::string::npos);
    CHECK(lines[1].empty());
    CHECK(lines[2].starts_with("formula   "));
    size_t at = 2;
    std::string formula;
    while (!lines[at].starts_with("task      ")) formula += lines.at(at++) + "\n";
    CHECK(contains(formula, parts[0]));
    CHECK((lines.at(at + 1).starts_with("look for  ") || lines.at(at + 2).starts_with("look for  ")));
    size_t last = lines.size() - 1;
    std::string sentence;
    for (; lines.at(last).starts_with("          "); --last) sentence = lines[last].substr(9) + sentence;
    REQUIRE(lines[last].starts_with("result    "));
    sentence = lines[last] + sentence;
    CHECK_MESSAGE(contains(sentence, parts[1]), sentence);
  }
}

TEST_CASE("attention_by_hand: the error for an unknown example lists the known ones") {
  CHECK(contains(refusal_of("attention_by_hand", "--example all"), "worked"));
}
