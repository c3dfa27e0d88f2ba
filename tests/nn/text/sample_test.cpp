#include "nn/text/sample.h"

#include "nn/text/vocabulary.h"
#include "tests/support/expect.h"

// The fraction of n draws for each index.
static Values shares(const Tensor& logits, const SampleOptions& options, int n = 20000) {
  Generator random(3);
  Values found(static_cast<size_t>(logits.numel()));
  for (int i = 0; i < n; ++i) found[static_cast<size_t>(sample(logits, random, options))] += 1.0 / n;
  return found;
}

TEST_CASE("sample: indices have the probabilities of the softmax") {
  const Tensor logits = tensor({std::log(0.1), std::log(0.4), -kInf, std::log(0.2), std::log(0.3)}) + 50;
  const auto near = [&](const SampleOptions& options, const Values& want) {
    const Values found = shares(logits, options);
    CHECK(largest_difference(found, want) < 0.012);
    for (size_t i = 0; i < want.size(); ++i) CHECK((found[i] == 0) == (want[i] == 0));
  };
  near({}, {0.1, 0.4, 0, 0.2, 0.3});
  near({.temperature = 0.5}, {1 / 30.0, 16 / 30.0, 0, 4 / 30.0, 9 / 30.0});
  near({.top_k = 2}, {0, 4 / 7.0, 0, 0, 3 / 7.0});
  near({.top_k = 100}, {0.1, 0.4, 0, 0.2, 0.3});
  near({.top_p = 0.65}, {0, 4 / 7.0, 0, 0, 3 / 7.0});
  near({.top_p = 0.75}, {0, 4 / 9.0, 0, 2 / 9.0, 3 / 9.0});
  near({.top_k = 3, .top_p = 0.7}, {0, 4 / 7.0, 0, 0, 3 / 7.0});  // two of the three reach 7/9
  near({.top_p = 1e-300}, {0, 1, 0, 0, 0});
  near({.temperature = 0}, {0, 1, 0, 0, 0});
  near({.temperature = 1e-300}, {0, 1, 0, 0, 0});
  near({.temperature = 1e300}, {0.25, 0.25, 0, 0.25, 0.25});
}

TEST_CASE("sample: the lower of equal indices first; one random number per draw, none at temperature 0") {
  Generator random(1);
  const Tensor equal = tensor({1, 2, 2, 2}, float64);
  CHECK(sample(equal, random, {.temperature = 0}) == 1);
  CHECK(random.position() == 0);
  CHECK(sample(equal, random, {.top_k = 1}) == 1);
  CHECK(random.position() == Generator(1).position() + 1);
  CHECK(largest_difference(shares(equal, {.top_k = 2}), {0, 0.5, 0.5, 0}) < 0.012);
  Generator again(1);
  Ids first, second;
  for (int i = 0; i < 20; ++i) first.push_back(sample(equal, again));
  again.set_position(0);
  for (int i = 0; i < 20; ++i) second.push_back(sample(equal, again));
  CHECK(first == second);
  CHECK(sample(tensor({-3}, float32), again) == 0);
}

TEST_CASE("sample: errors") {
  Generator random(1);
  const Tensor logits = tensor({1, 2}, float32);
  const auto refused = [&](const Tensor& of, const SampleOptions& options, const std::string& part) {
    CHECK_ERROR_HAS(sample(of, random, options), part);
    CHECK(random.position() == 0);
  };
  const std::string why = "temperature and top_k must not be negative, top_p must lie in (0, 1]";
  for (const double wrong : {-1.0, kNaN, kInf}) refused(logits, {.temperature = wrong}, why);
  refused(logits, {.top_k = -1}, why);
  for (const double wrong : {0.0, 1.5, kNaN}) refused(logits, {.top_p = wrong}, why);
  refused(tensor({1, kNaN}), {}, "sample: logit 1 is nan");
  refused(tensor({kInf, 1}), {}, "sample: logit 0 is inf");
  refused(tensor({-kInf, -kInf}), {}, "sample: every logit is -inf; one token must be possible");
  refused(reshape(logits, {1, 2}), {}, "sample: the logits are [1, 2] of float32; they must be floating [V]");
  refused(tensor({1, 2}, int64), {}, "of int64");
  refused(zeros({0}), {}, "the logits are [0]");
}
