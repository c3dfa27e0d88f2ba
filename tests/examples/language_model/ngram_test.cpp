#include "examples/language_model/ngram.h"

#include "tests/support/expect.h"

using program::Ngram;

// a b a b a c: bigrams a b twice, b a twice, a c once, so d = 1 / (1 + 2 * 2) = 0.2. The count of a single id
// is the number of different ids before it: a 1 (b), b 1 (a), c 1 (a), so d = 3 / 3, at most 0.9.
TEST_CASE("ngram: probabilities of a small text by hand") {
  const Ngram model({0, 1, 0, 1, 0, 2}, 4, 2);
  const auto p = [&](const Ids& context, int64_t token) { return model.probability(context, token); };
  const auto near = [](double a) { return doctest::Approx(a).epsilon(1e-12); };
  const double seen = (1 - 0.9 + 0.9 * 3 / 4) / 3, unseen = 0.9 * 3 / 4 / 3;
  CHECK(p({}, 0) == near(seen));
  CHECK(p({}, 3) == near(unseen));
  CHECK(p({0}, 1) == near((2 - 0.2 + 0.2 * 2 * seen) / 3));
  CHECK(p({0}, 2) == near((1 - 0.2 + 0.2 * 2 * seen) / 3));
  CHECK(p({0}, 3) == near(0.2 * 2 * unseen / 3));
  CHECK(p({2}, 1) == near(seen));       // nothing follows c
  CHECK(p({3, 3, 0}, 1) == p({0}, 1));  // only the last id counts
  CHECK(model.bits({0, 1}) == near(-std::log2(p({}, 0)) - std::log2(p({0}, 1))));
  CHECK(model.bits({}) == 0);
  CHECK(Ngram({}, 4).probability({}, 2) == 0.25);
}

TEST_CASE("ngram: the probabilities after each context sum to 1, and more context predicts better") {
  Generator random(5);
  constexpr int64_t kIds = 7;
  Ids ids = {0, 1};
  while (ids.size() < 3000)
    ids.push_back(random.uniform() < 0.8 ? (ids.back() + ids[ids.size() - 2]) % kIds
                                         : random.integer(0, kIds));
  const Ids learned(ids.begin(), ids.begin() + 2000), rest(ids.begin() + 2000, ids.end());
  double before = static_cast<double>(rest.size()) * std::log2(kIds);
  for (const int64_t order : {2, 3}) {
    const double bits = Ngram(learned, kIds, order).bits(rest);
    CHECK(bits < 1.01 * before);
    before = bits;
  }
  const Ngram model(learned, kIds);
  CHECK(model.bits(rest) < 0.75 * static_cast<double>(rest.size()) * std::log2(kIds));
  for (int i = 0; i < 200; ++i) {
    Ids context;
    for (int64_t n = random.integer(0, 8); n > 0; --n) context.push_back(random.integer(0, kIds));
    double sum = 0, least = 1;
    for (int64_t token = 0; token < kIds; ++token) {
      const double p = model.probability(context, token);
      sum += p;
      least = std::min(least, p);
    }
    CHECK(sum == doctest::Approx(1).epsilon(1e-12));
    CHECK(least > 0);
  }
}

TEST_CASE("ngram: errors") {
  CHECK_ERROR(Ngram({0}, 4, 6), "Ngram: order is 6; it must be from 1 to 5");
  CHECK_ERROR(Ngram({0}, 5000), "Ngram: vocabulary is 5000; it must be from 1 to 4096");
  CHECK_ERROR(Ngram({0, 4}, 4), "Ngram: there is no id 4; the ids are 0 to 3");
  CHECK_ERROR_HAS(Ngram({0}, 4).probability({}, -1), "Ngram: there is no id -1");
}
