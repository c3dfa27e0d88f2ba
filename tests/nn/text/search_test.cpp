#include "nn/text/search.h"

#include "tests/support/expect.h"

namespace {

// A language model with random log-probabilities of the next token for each sentence and prefix. Tokens are
// numbers below `tokens`; 2 is <eos>. The decoder's state is the prefix of each row.
class RandomModel {
 public:
  RandomModel(uint64_t seed, int64_t tokens) : seed_(seed), tokens_(tokens) {}

  Tensor next(const Ids& prefix) const {  // a prefix begins with the index of the sentence
    uint64_t at = 17;
    for (const int64_t token : prefix) at = at * 31 + uint64_t(token) + 1;
    Generator random(seed_, at);
    return log_softmax(2 * randn({tokens_}, float64, &random), 0);
  }

  DecodeStep decoder() {
    prefixes_.clear();
    return [this](const Tensor& tokens, const Tensor& parents) {
      CHECK_FALSE(grad_enabled());
      const Ids token = tokens.to_vector<int64_t>(), parent = parents.to_vector<int64_t>();
      std::vector<Ids> continued;
      Tensors rows;
      for (size_t i = 0; i < token.size(); ++i) {
        if (prefixes_.empty()) CHECK(token[i] == Vocabulary::bos);
        continued.push_back(prefixes_.empty() ? Ids{parent[i]} : prefixes_.at(size_t(parent[i])));
        if (!prefixes_.empty()) continued.back().push_back(token[i]);
        rows.push_back(next(continued.back()));
      }
      prefixes_ = continued;
      most_rows = std::max(most_rows, rows.size());
      return stack(rows);
    };
  }

  // All sentences that continue `prefix`, cut off at max_length, with their scores.
  void all(const Ids& prefix, double log_probability, int64_t max_length, double alpha,
           std::vector<Hypothesis>& out) const {
    const auto length = int64_t(prefix.size());  // including the next token
    const Values log_p = next(prefix).to_vector();
    for (int64_t token = 0; token < tokens_; ++token) {
      const double total = log_probability + log_p[size_t(token)];
      Ids longer = prefix;
      if (token != Vocabulary::eos) longer.push_back(token);
      if (token == Vocabulary::eos || length == max_length)
        out.push_back({Ids(longer.begin() + 1, longer.end()), total, total / std::pow(double(length), alpha),
                       token == Vocabulary::eos});
      else
        all(longer, total, max_length, alpha, out);
    }
  }

  size_t most_rows = 0;

 private:
  uint64_t seed_;
  int64_t tokens_;
  std::vector<Ids> prefixes_;
};

// A step that returns the same log-probabilities for every row.
DecodeStep always(const Values& log_probabilities) {
  return [=](const Tensor& tokens, const Tensor&) {
    const auto v = int64_t(log_probabilities.size());
    return expand(from_vector(log_probabilities, {1, v}), {tokens.size(0), v});
  };
}

}  // namespace

// covers: C-100-05
TEST_CASE("beam_search: with room for all prefixes it finds the best sentence") {
  for (uint64_t seed = 0; seed < 40; ++seed)
    for (const double alpha : {0.0, 0.6, 1.0, 2.0}) {
      CAPTURE(seed);
      RandomModel model(seed, 4);
      const auto found = beam_search(model.decoder(), 2, {.max_length = 4, .width = 256, .alpha = alpha});
      for (int64_t sentence = 0; sentence < 2; ++sentence) {
        std::vector<Hypothesis> every;
        model.all({sentence}, 0, 4, alpha, every);
        const Hypothesis* best = &every[0];
        for (const Hypothesis& one : every)
          if (one.score > best->score) best = &one;
        const Hypothesis& got = found[size_t(sentence)].front();
        REQUIRE(got.tokens == best->tokens);
        REQUIRE(got.ended == best->ended);
        REQUIRE(got.score == doctest::Approx(best->score).epsilon(1e-14));
        REQUIRE(got.log_probability == doctest::Approx(best->log_probability).epsilon(1e-14));
        REQUIRE(found[size_t(sentence)].size() == every.size());  // 1 + 3 + 9 + 27 * 4 = 121
      }
    }
}

// covers: C-100-05
TEST_CASE("greedy_search: the most probable token at every step; batches equal single sentences") {
  int64_t ends = 0, cuts = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomModel model(seed, 7);
    const std::vector<Ids> found = greedy_search(model.decoder(), 5, 12);
    for (int64_t sentence = 0; sentence < 5; ++sentence) {
      Ids prefix{sentence};
      bool ended = false;
      while (!ended && prefix.size() <= 12) {
        const int64_t token = argmax(model.next(prefix)).item<int64_t>();
        ended = token == Vocabulary::eos;
        if (!ended) prefix.push_back(token);
      }
      (ended ? ends : cuts) += 1;
      REQUIRE(found[size_t(sentence)] == Ids(prefix.begin() + 1, prefix.end()));
    }
    const auto beams = beam_search(model.decoder(), 5, {.max_length = 12, .width = 1});
    for (size_t sentence = 0; sentence < 5; ++sentence) CHECK(beams[sentence][0].tokens == found[sentence]);
  }
  CHECK(ends > 10);  // both ways to finish occur
  CHECK(cuts > 5);
}

TEST_CASE("beam_search: a sentence has the same result in a batch and alone; no more rows than beams") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomModel model(seed, 6);
    const SearchOptions options{.max_length = 8, .width = 3};
    const auto found = beam_search(model.decoder(), 4, options);
    CHECK(model.most_rows <= 12);
    for (int64_t sentence = 0; sentence < 4; ++sentence) {
      RandomModel one(seed, 6);
      const DecodeStep step = one.decoder();
      const auto alone = beam_search(
          [&, first = true](const Tensor& tokens, const Tensor& parents) mutable {
            const Tensor rows = std::exchange(first, false) ? parents + sentence : parents;
            return step(tokens, rows);
          },
          1, options);
      const auto& list = found[size_t(sentence)];
      REQUIRE(list.size() == 3);
      REQUIRE(alone[0].size() == 3);
      for (size_t i = 0; i < 3; ++i) {
        CHECK(alone[0][i].tokens == list[i].tokens);
        CHECK(alone[0][i].score == list[i].score);
        if (i > 0) CHECK(list[i - 1].score >= list[i].score);
      }
    }
  }
}

TEST_CASE("beam_search: finds a better sentence than greedy search") {
  // After 4 the probability is spread; after 5 the end is certain. Greedy takes 4 (0.6), the best is 5 (0.4).
  const DecodeStep step = [](const Tensor& tokens, const Tensor&) {
    Values logs;
    for (const int64_t token : tokens.to_vector<int64_t>())
      for (const double p : token == 1   ? Values{0, 0, 0, 0, .6, .4}
                            : token == 4 ? Values{.2, .2, .3, .1, .1, .1}
                                         : Values{0, 0, 1, 0, 0, 0})
        logs.push_back(std::log(p));
    return from_vector(logs, {tokens.numel(), 6}, float64);
  };
  CHECK(greedy_search(step, 1) == std::vector<Ids>{{4}});
  const auto found = beam_search(step, 1, {.width = 2, .alpha = 0});
  CHECK(found[0][0].tokens == Ids{5});
  CHECK(found[0][0].score == doctest::Approx(std::log(0.4)).epsilon(1e-14));
  CHECK(found[0][0].ended);
}

TEST_CASE("beam_search: length limit, normalization and ties") {
  // Never <eos>: cut off. Of equal tokens the lower one.
  const auto cut = beam_search(always({-2, -1, -kInf, -1}), 1, {.max_length = 3, .width = 2, .alpha = 1});
  CHECK(cut[0][0].tokens == Ids{1, 1, 1});
  CHECK(cut[0][1].tokens == Ids{1, 1, 3});
  CHECK(cut[0][0].score == -1);
  CHECK(cut[0][0].log_probability == -3);
  CHECK_FALSE(cut[0][0].ended);
  CHECK(greedy_search(always({-1, -1, -1}), 2, 2) == std::vector<Ids>{{0, 0}, {0, 0}});
  // <eos> at once costs 1.5, a longer sentence less per token, including <eos>.
  const DecodeStep step = always({-kInf, -kInf, -1.5, -1});
  CHECK(beam_search(step, 1, {.max_length = 3, .width = 50, .alpha = 0})[0][0].tokens.empty());
  const auto normalized = beam_search(step, 1, {.max_length = 3, .width = 50, .alpha = 1});
  CHECK(normalized[0][0].tokens == Ids{3, 3, 3});
  CHECK(normalized[0][1].score == doctest::Approx(-3.5 / 3).epsilon(1e-14));
  CHECK(beam_search(step, 0).empty());
  // With a fixed length, <eos> (token 2) is an ordinary token.
  const DecodeStep likes_2 = always({-3, -2, -1, -2});
  CHECK(greedy_search(likes_2, 2, 4) == std::vector<Ids>{{}, {}});
  CHECK(greedy_search(likes_2, 2, 4, std::nullopt) == std::vector<Ids>{{2, 2, 2, 2}, {2, 2, 2, 2}});
  CHECK(greedy_search(likes_2, 1, 4, 3) == std::vector<Ids>{{2, 2, 2, 2}});
  const auto two = beam_search(likes_2, 1, {.max_length = 3, .width = 2, .end = 1});
  CHECK(two[0][0].tokens == Ids{2, 2, 2});
  CHECK_FALSE(two[0][0].ended);
}

TEST_CASE("beam_search: errors") {
  CHECK_ERROR(beam_search(always({-1, kNaN, -1}), 1), "beam_search: a log-probability is NaN");
  CHECK_ERROR(greedy_search(always({-kInf, -kInf, -kInf}), 2),
              "beam_search: no token can follow: all log-probabilities of sentence 0 are -inf");
  CHECK_ERROR_HAS(beam_search(always({-1, -1, -1}), 1, {.width = 0}), "width 0");
  CHECK_ERROR_HAS(greedy_search(always({-1, -1, -1}), 1, 0), "max_length 0");
  const auto returns = [](const Tensor& x) { return [x](auto&, auto&) { return x; }; };
  CHECK_ERROR(beam_search(returns(zeros({3, 4})), 2),
              "beam_search: the step returned [3, 4] for 2 rows; it must return log-probabilities [2, V]");
  CHECK_ERROR_HAS(beam_search(returns(zeros({2, 4}, int64)), 2), "float");
}
