#include "examples/playground/tokens.h"

#include "tests/support/expect.h"

using namespace program;

namespace {

// The numbers of an answer from `at` on.
Values part_of(const std::vector<float>& answer, size_t at, size_t count) {
  const auto begin = answer.begin() + static_cast<std::ptrdiff_t>(at);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

TEST_CASE("playground tokens: by hand, for words on the axes") {
  const std::vector<float> answer = tokens(tokens_first());
  REQUIRE(answer.size() == 4 * 8 + 2 * 16 + 2 * 8);
  CHECK(part_of(answer, 8, 8) == Values{2, 0, 0, 2, 1, 1, 0, 0});  // Q = X
  CHECK(answer[32] == doctest::Approx(4 / std::sqrt(2.0)));        // the first score
  const double a = std::exp(4 / std::sqrt(2.0)), b = std::exp(2 / std::sqrt(2.0));
  CHECK(answer[48] == doctest::Approx(a / (a + b + 2)));
  CHECK(part_of(answer, 60, 4) == Values{0.25, 0.25, 0.25, 0.25});  // the word 0 attends to all alike
  CHECK(part_of(answer, 64, 8) == part_of(answer, 72, 8));          // Y = Z
}

TEST_CASE("playground tokens: a mask, positions and heads") {
  std::vector<float> request = tokens_first();
  const size_t allowed = request.size() - 16;
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j) request[allowed + 4 * i + j] = j <= i ? 1 : 0;
  const std::vector<float> causal = tokens(request);
  CHECK(part_of(causal, 48, 4) == Values{1, 0, 0, 0});
  CHECK(part_of(causal, 64, 2) == Values{2, 0});
  std::fill(request.begin() + static_cast<std::ptrdiff_t>(allowed), request.end(), 0.0F);
  CHECK(part_of(tokens(request), 48, 16) == Values(16, 0));

  request = tokens_first();
  request[1] = 1;
  CHECK(part_of(tokens(request), 0, 2) == Values{2, 1});  // sin 0 and cos 0 are added
  request[0] = 2;
  CHECK(tokens(request).size() == 4 * 8 + 2 * 32 + 2 * 8);
  CHECK_THROWS_WITH(tokens(std::vector<float>{2, 0, 4, 3, 3, 2}),
                    "tokens: d_k is 3 and d_v 2; both must be divisible by the 2 heads");
}

TEST_CASE("playground tokens: the worked example, with queries of another width than values") {
  std::vector<float> request = {1, 0, 2, 2, 3, 2, 1, 0, 0, 1};  // X is the identity
  for (const float number : {1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 2, 3, 4, 1, 0, 0, 1, 1, 1, 1, 1})
    request.push_back(number);  // Q, K, V, W_O, allowed
  const std::vector<float> answer = tokens(request);
  REQUIRE(answer.size() == 4 + 6 + 6 + 4 + 4 + 4 + 4 + 4);
  CHECK(answer[20] == doctest::Approx(1 / std::sqrt(3.0)));  // S
  CHECK(answer[23] == doctest::Approx(2 / std::sqrt(3.0)));
  CHECK(answer[24] == 0.5);  // A
  CHECK(answer[27] == doctest::Approx(0.6405).epsilon(1e-4));
  CHECK(part_of(answer, 28, 2) == Values{2, 3});  // Z
}
