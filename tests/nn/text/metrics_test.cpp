#include "nn/text/metrics.h"

#include "tests/support/expect.h"

using Corpus = std::vector<Tokens>;

static Corpus words(std::initializer_list<const char*> texts) {
  Corpus sentences;
  for (const char* text : texts) sentences.push_back(split_words(text));
  return sentences;
}

static bool near(double a, double b) { return std::abs(a - b) < 1e-14; }

static void check_precisions(const Bleu& bleu, const Values& want) {
  CHECK(largest_difference({bleu.precisions.begin(), bleu.precisions.end()}, want) < 1e-14);
}

// covers: C-100-05
TEST_CASE("bleu: computed by hand") {
  // 6 words in both: unigrams 5 of 6, bigrams 3 of 5, trigrams 2 of 4, 4-grams 1 of 3.
  const Bleu one = bleu(words({"the cat sat on a mat"}), words({"the cat sat on the mat"}));
  check_precisions(one, {5 / 6., 3 / 5., 2 / 4., 1 / 3.});
  CHECK(one.brevity_penalty == 1);
  CHECK(near(one.score, std::pow(5. / 6 * 3 / 5 * 1 / 2 * 1 / 3, 0.25)));

  // Counts are summed over the corpus before they are divided, and so are the lengths: c = 9, r = 11.
  const Bleu two = bleu(words({"the cat sat on a mat", "I love China"}),
                        words({"the cat sat on the mat", "I do love China !"}));
  check_precisions(two, {8 / 9., 4 / 7., 2 / 5., 1 / 3.});
  CHECK(near(two.brevity_penalty, std::exp(1 - 11 / 9.)));
  CHECK(near(two.score, std::exp(1 - 11 / 9.) * std::pow(8. / 9 * 4 / 7 * 2 / 5 * 1 / 3, 0.25)));
}

TEST_CASE("bleu: counts are clipped by their maximum over the references; the closest length counts") {
  const auto with_references = [](const char* candidate, const Corpus& references) {
    return bleu(words({candidate}), std::vector<Corpus>{references});
  };
  // The example of Papineni et al.: 2 of 7 unigrams.
  const Bleu the = with_references("the the the the the the the",
                                   words({"the cat is on the mat", "there is a cat on the mat"}));
  CHECK(near(the.precisions[0], 2 / 7.));
  CHECK(the.score == 0);
  CHECK(the.brevity_penalty == 1);
  // 3 words; references of 2 and of 4 are as close: the shorter one.
  CHECK(with_references("a b c", words({"a b c d", "a b"})).brevity_penalty == 1);
  CHECK(near(with_references("a b c", words({"a b c d", "a"})).brevity_penalty, std::exp(-1 / 3.)));
}

TEST_CASE("bleu: equal, disjoint, short and empty candidates") {
  const Corpus long_one = words({"I ate an apple in Beijing yesterday"});
  CHECK(bleu(long_one, long_one).score == doctest::Approx(1).epsilon(1e-15));
  CHECK(bleu(long_one, words({"x"})).score == 0);
  const Corpus three = words({"I love China"});
  CHECK(bleu(three, three).score == 0);  // it has no 4-gram
  CHECK(bleu(three, three, true).score == doctest::Approx(1).epsilon(1e-15));
  // Smoothed: 2 of 3, (1 + 1) of (2 + 1), (0 + 1) of (1 + 1), (0 + 1) of (0 + 1)
  CHECK(near(bleu(three, words({"I love you"}), true).score, std::pow(2. / 3 * 2 / 3 * 1 / 2, 0.25)));
  CHECK(bleu(three, words({"x y z"}), true).score == 0);
  for (const bool smooth : {false, true}) {
    CHECK(bleu(Corpus{{}}, three, smooth).score == 0);
    CHECK(bleu(three, Corpus{{}}, smooth).score == 0);
    CHECK(bleu(Corpus{{}}, Corpus{{}}, smooth).score == 0);
    CHECK(bleu(Corpus{}, Corpus{}, smooth).score == 0);
  }
  CHECK_ERROR(bleu(three, Corpus{}), "bleu: 1 candidates for 0 references; each candidate needs one");
  CHECK_ERROR(bleu(three, std::vector<Corpus>{{}}), "bleu: candidate 0 has no reference");
}

TEST_CASE("exact_match and edit_distance") {
  CHECK(exact_match({{"a", "b"}, {"c"}, {}}, {{"a", "b"}, {"d"}, {}}) == doctest::Approx(2 / 3.));
  CHECK(exact_match({}, {}) == 0);
  CHECK(message([] { exact_match({{"a"}}, {}); }).starts_with("exact_match: 1 candidates for 0 references"));

  const auto distance = [](const char* a, const char* b) {
    return edit_distance(split_characters(a), split_characters(b));
  };
  CHECK(distance("kitten", "sitting") == 3);
  CHECK(distance("sunday", "saturday") == 3);
  CHECK(distance("我爱中国", "我喜欢中国") == 2);
  CHECK(distance("ab", "ba") == 2);
  CHECK(distance("abc", "abc") == 0);
  CHECK(distance("", "abc") == 3);
  CHECK(distance("abc", "") == 3);
  CHECK(distance("", "") == 0);
}
