
#include "tests/support/results.h"

// covers: C-002-10
TEST_CASE("scores: each score learns which key belongs to a query and uses all its parameters") {
  const Json rows = results_of("scores", "--normaliser softmax --steps 400")["scores"];
  const std::map<std::string, std::pair<int64_t, size_t>> known = {
      // parameters and tensors, for width 8 and 32 hidden units
      {"dot", {64, 1}},
      {"scaled_dot", {64, 1}},
      {"additive", {32 * 8 + 32 * 8 + 32, 3}},
      {"bilinear", {64, 1}},
      {"low_rank", {2 * 64, 2}},
      {"dense", {64 + 8, 2}},
      {"gaussian", {64 + 8 + 1, 3}}};
  REQUIRE(rows.size() == known.size());
  for (const Json& row : rows) {
    const std::string score = row["score"];
    CAPTURE(score);
    REQUIRE(known.count(score) == 1);
    const auto [numbers, tensors] = known.at(score);
    CHECK(row["normaliser"] == "softmax");
    CHECK(row["parameters"] == numbers);
    CHECK(row["accuracy_before"] < 0.3);  // chance is 1 of 8
    CHECK(row["accuracy"] > 0.95);
    CHECK(row["loss"] < 0.1 * row["loss_before"].get<double>());
    CHECK(row["zeros"] == 0);
    CHECK(row["entropy"] < 1);  // equal weights have log 8 = 2.08
    CHECK(row["forgotten"].size() == tensors);
    for (const Json& forgotten : row["forgotten"]) {
      const std::string parameter = forgotten["parameter"];
      CAPTURE(parameter);
      CHECK(forgotten["loss"] > 1.3 * row["loss"].get<double>());
      if (contains(parameter, "weight")) CHECK(forgotten["accuracy"] < 0.5);
    }
  }
}

TEST_CASE("scores: every score also learns with weights that are exactly zero") {
  const Json all = results_of("scores", "--steps 100");
  CHECK(all["scores"].size() == 21);
  for (const Json& row : all["scores"]) {
    const std::string score = row["score"], normaliser = row["normaliser"];
    INFO(score, ", ", normaliser);
    CHECK(row["accuracy"] > (normaliser == "hard" ? 0.6 : 0.9));  // hard: accuracy of the sampled keys
    CHECK(row["loss"] < 0.5 * row["loss_before"].get<double>());
    if (normaliser == "hard") CHECK(row["zeros"] == 0.875);
    if (normaliser == "hard") CHECK(row["entropy"] == 0);
    if (normaliser == "sparsemax") CHECK(row["zeros"] > 0.6);
    if (normaliser == "softmax") CHECK(row["zeros"] == 0);
  }
  // A single score gives the same result as among all.
  const Json one = results_of("scores", "--steps 100 --score dense --normaliser sparsemax");
  REQUIRE(one["scores"].size() == 1);
  CHECK(!one.contains("hard"));
  CHECK(one["scores"][0]["loss"] == all["scores"][16]["loss"]);
  const Json other = results_of("scores", "--steps 100 --score dense --normaliser sparsemax --seed 2");
  CHECK(other["scores"][0]["loss"] != one["scores"][0]["loss"]);
}

// covers: C-003-12
TEST_CASE("scores: the mean of S hard choices converges to the soft output as 1/sqrt(S)") {
  const Json rows = results_of("scores", "--score dot --normaliser hard --steps 1")["hard"];
  REQUIRE(rows.size() == 4);
  for (size_t i = 0; i < 4; ++i) {
    const double samples = std::pow(10, i + 1), expected = rows[i]["expected"];
    CHECK(rows[i]["samples"] == samples);
    CHECK(rows[i]["distance"].get<double>() == doctest::Approx(expected).epsilon(0.15));
    CHECK(expected * std::sqrt(samples / 10) == doctest::Approx(rows[0]["expected"].get<double>()));
  }
}

TEST_CASE("scores: tables and heat maps") {
  const Folder folder;
  const Run done = run_program("scores", "--score additive --steps 20 --out " + folder.path.string());
  CHECK(done.code == 0);
  for (const char* part : {"score     normaliser  parameters", "additive  sparsemax", "W_q.weight  [32, 8]",
                           "distance sqrt(S)", "additive.svg"})
    CHECK(contains(done.out, part));
  const std::string picture = read_file(folder / "additive.svg");
  CHECK(contains(picture, "<svg"));
  CHECK(contains(picture, "additive, softmax"));
}

TEST_CASE("scores: invalid options are errors before training") {
  CHECK(contains(refusal_of("scores", "--steps 0"), "--steps is 0; it must be from 1 to 1000000"));
  CHECK(contains(refusal_of("scores", "--score cosine"), "low_rank"));
  CHECK(contains(refusal_of("scores", "--normaliser max"), "sparsemax"));
  CHECK(contains(refusal_of("scores", "--compare depth"), "scale"));
  CHECK(contains(refusal_of("scores", "--compare scale --score dot"), "--compare scale trains nothing"));
  CHECK(contains(refusal_of("scores", "--compare scale --log x"), "--log is for training"));
}
