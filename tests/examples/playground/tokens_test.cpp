#include "examples/playground/tokens.h"

#include "tests/support/expect.h"

using namespace program;

namespace {

constexpr size_t kLength = 3;  // words of width 2

struct FourWords {
  size_t heads;
  bool positions;
  Values X, W_Q, W_K, W_V, W_O, allowed;

  std::vector<float> answer() const {
    std::vector<float> request = {static_cast<float>(heads), static_cast<float>(positions), kLength, 2};
    for (const Values& one : {X, W_Q, W_K, W_V, W_O, allowed})
      for (const double number : one) request.push_back(static_cast<float>(number));
    return tokens(request);
  }

  // The same in plain loops.
  Values by_hand() const {
    Values x = X;
    for (size_t t = 0; positions && t < kLength; ++t) {
      x[2 * t] += std::sin(static_cast<double>(t));
      x[2 * t + 1] += std::cos(static_cast<double>(t));
    }
    const Values q = product(x, W_Q), k = product(x, W_K), v = product(x, W_V);
    Values S, A, z(2 * kLength);
    const size_t wide = 2 / heads;
    for (size_t h = 0; h < heads; ++h)
      for (size_t i = 0; i < kLength; ++i) {
        double total = 0;
        for (size_t j = 0; j < kLength; ++j) {
          double dot = 0;
          for (size_t c = h * wide; c < (h + 1) * wide; ++c) dot += q[2 * i + c] * k[2 * j + c];
          S.push_back(dot / std::sqrt(static_cast<double>(wide)));
          A.push_back(std::exp(S.back()) * allowed[kLength * i + j]);
          total += A.back();
        }
        for (size_t j = 0; j < kLength; ++j) {
          double& weight = A[(h * kLength + i) * kLength + j];
          if (total > 0) weight /= total;
          for (size_t c = h * wide; c < (h + 1) * wide; ++c) z[2 * i + c] += weight * v[2 * j + c];
        }
      }
    Values all;
    for (const Values& one : {x, q, k, v, S, A, z, product(z, W_O)})
      all.insert(all.end(), one.begin(), one.end());
    return all;
  }

  static Values product(const Values& x, const Values& W) {
    Values y;
    for (size_t t = 0; t < kLength; ++t)
      for (size_t c = 0; c < 2; ++c) y.push_back(x[2 * t] * W[c] + x[2 * t + 1] * W[2 + c]);
    return y;
  }
};

FourWords three_words(size_t heads) {
  return {heads,          false,         {1, 2, -1, 0.5, 0, -1.5},   {1, 0.5, -0.5, 1}, {0, 1, -1, 0},
          {2, 0, 0.5, 1}, {1, 1, -1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}};
}

void check_by_hand(const FourWords& words) {
  const std::vector<float> answer = words.answer();
  CHECK(largest_difference(Values(answer.begin(), answer.end()), words.by_hand()) < 1e-6);
}

}  // namespace

TEST_CASE("playground tokens: all matrices as in plain loops") {
  for (const size_t heads : {1, 2})
    for (const bool positions : {false, true}) {
      CAPTURE(heads);
      CAPTURE(positions);
      FourWords words = three_words(heads);
      words.positions = positions;
      check_by_hand(words);
      words.allowed = {1, 0, 0, 1, 1, 0, 1, 1, 1};  // causal
      check_by_hand(words);
      words.allowed = {0, 0, 0, 1, 0, 1, 0, 1, 0};  // the first may attend to nothing
      check_by_hand(words);
    }
}

TEST_CASE("playground tokens: the first request is bank between river and money") {
  const std::vector<float> request = tokens_first(), answer = tokens(request);
  REQUIRE(request.size() == 4 + 8 + 4 * 4 + 16);
  REQUIRE(answer.size() == 4 * 8 + 2 * 16 + 2 * 8);
  const double e = std::exp(2 / std::sqrt(2.0)), river = e / (3 * e + 1);
  const Values bank(answer.begin() + 32 + 16 + 8, answer.begin() + 32 + 16 + 12);
  CHECK(largest_difference(bank, {river, river, river, 1 / (3 * e + 1)}) < 1e-6);
  CHECK(answer[32 + 32 + 4] == doctest::Approx(3 * river));  // 2 river + 0 money + 1 bank
}

TEST_CASE("playground tokens: mistakes of a request") {
  std::vector<float> request = tokens_first();
  request.back() = 0.5F;
  CHECK_THROWS_WITH(tokens(request), "tokens: allowed is 0.5; it must be an integer from 0 to 1");
  request.back() = 1;
  request[0] = 3;
  CHECK_THROWS_WITH(tokens(request), "tokens: 3 heads do not divide the width 2");
  request[0] = 2;
  request.push_back(1);
  CHECK_THROWS_WITH(tokens(request), "tokens: the request has 1 numbers too many");
}
