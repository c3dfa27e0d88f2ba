#include "examples/playground/two_translators.h"

#include "tests/support/expect.h"

using namespace program;

namespace {

constexpr bool kOneVector = false, kAttention = true;
const Tokens love_china = {"我", "爱", "中", "国"};

// Translators of seed 1 after this many steps.
struct Trained {
  explicit Trained(int steps) : both(1) {
    manual_seed(0);
    for (int i = 0; i < steps; ++i) losses.push_back(both.learn());
  }
  TwoTranslators both;
  std::vector<std::array<double, 2>> losses;
};

}  // namespace

TEST_CASE("two translators: both learn a sentence that they never saw, attention aligns it" *
          doctest::test_suite("learning")) {
  const Trained trained(400);
  for (const bool attends : {kOneVector, kAttention}) {
    CHECK(trained.losses.front()[attends] > 4);
    CHECK(trained.losses.back()[attends] < 1.5);
  }
  CHECK(trained.losses.back()[kAttention] < trained.losses.back()[kOneVector]);
  CHECK(std::ranges::count(trained.both.sentences().train, held_out_pairs()[0]) == 0);
  const AlignedTranslation translation = trained.both.translate(kAttention, love_china);
  CHECK(translation.target == Tokens{"I", "love", "China", "<eos>"});
  CHECK(translation.source == love_china);
  CHECK(translation.weights.shape() == Shape{4, 4});
  CHECK(translation.weights[1][1].item() > 0.5);
  CHECK(largest_difference(sum(translation.weights, -1), ones({4})) < 1e-5);
  CHECK(!trained.both.translate(kOneVector, love_china).weights.defined());

  int64_t sentences = 0, exact[2] = {}, length = 0;
  for (const LengthScore& score : trained.both.score()) {
    CHECK(score.length > length);
    length = score.length;
    sentences += score.sentences;
    for (const bool attends : {kOneVector, kAttention}) exact[attends] += score.exact[attends];
  }
  CHECK(sentences == std::ssize(trained.both.sentences().test));
  CHECK(exact[kAttention] > sentences / 2);
  CHECK(exact[kOneVector] < exact[kAttention]);
}

TEST_CASE("two translators: a forbidden cell has no weight, the others of its row share it") {
  const Trained trained(5);
  const Tensor weights = trained.both.translate(kAttention, love_china, {{0, 1}, {0, 2}}).weights;
  CHECK(weights[0][1].item() == 0);
  CHECK(weights[0][2].item() == 0);
  CHECK(sum(weights[0]).item() == doctest::Approx(1));
  const Tensor nothing =
      trained.both.translate(kAttention, love_china, {{0, 0}, {0, 1}, {0, 2}, {0, 3}}).weights;
  CHECK(sum(nothing[0]).item() == 0);
}

TEST_CASE("two translators: one seed gives one training, and a kept state stays as it was") {
  Trained trained(3);
  CHECK(trained.losses == Trained(3).losses);
  trained.both.keep(0);
  const Tensor before = trained.both.translate(kAttention, love_china).weights;
  trained.both.learn();
  CHECK(trained.both.steps() == 4);
  const Tensor kept = trained.both.translate(kAttention, love_china, {}, 0).weights;
  CHECK(kept.shape() == before.shape());
  CHECK(largest_difference(kept, before) == 0);
  CHECK_THROWS_WITH(trained.both.translate(kAttention, love_china, {}, 1), "there is no kept state 1");
  CHECK_THROWS_WITH(trained.both.keep(32), "a state is kept under a number from 0 to 31, not 32");
}

TEST_CASE("two translators: packed parameters are close to those that were packed") {
  const Trained trained(30);
  TwoTranslators other(1);
  other.unpack(trained.both.packed());
  const Tensor a = trained.both.translate(kAttention, love_china).weights[0],
               b = other.translate(kAttention, love_china).weights[0];
  CHECK(largest_difference(a, b) < 0.05);
  CHECK(other.packed().size() == trained.both.packed().size());
  CHECK_THROWS_WITH(other.unpack(trained.both.packed().substr(0, 100)),
                    doctest::Contains("packed translators have 92 numbers"));
  CHECK_THROWS_WITH(other.unpack("abc"), "packed translators end too early");
}

TEST_CASE("two translators: sentences that cannot be translated") {
  const TwoTranslators both(1);
  CHECK(both.unknown({"我", "飞", "飞", "x"}) == Tokens{"飞", "x"});
  CHECK_THROWS_WITH(both.translate(kAttention, {"我", "飞"}), "the translators have never seen \"飞\"");
  CHECK_THROWS_WITH(both.translate(kAttention, {}), "a sentence has 1 to 40 words or characters, not 0");
  CHECK_THROWS_WITH(both.translate(kAttention, Tokens(41, "我")), doctest::Contains("not 41"));
  CHECK_THROWS_WITH(both.translate(kAttention, {"我"}, {{0, 1}}), "the source has no word 1");
}
