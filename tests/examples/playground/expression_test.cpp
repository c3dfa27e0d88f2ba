#include "examples/playground/expression.h"

#include "tests/support/expect.h"

using namespace program;

namespace {

double result_of(const std::string& text) {
  return compute(text, {{"x", full({}, 3, float64)}}).result.item();
}

}  // namespace

TEST_CASE("expression: operators and functions as in mathematics") {
  CHECK(result_of("1 + 2 * 3") == 7);
  CHECK(result_of("(1 + 2) * 3 - 8 / 4 / 2") == 8);
  CHECK(result_of("2 ^ 3 ^ 2") == 512);
  CHECK(result_of("-x ^ 2") == -9);
  CHECK(result_of("2 ^ -1 * - -x") == 1.5);
  CHECK(result_of("1.5e1 + .5") == 15.5);
  CHECK(result_of("exp(log(x)) + sqrt(16) + relu(-1)") == doctest::Approx(7));
  CHECK(result_of("sum([1, 2, -3] * x) + mean([1, 3])") == 2);
  CHECK(result_of("sum(softmax([0, 0]) * [1, 3])") == 2);
  CHECK(result_of("tanh(0) + sigmoid(0) + sin(0)") == 0.5);
}

TEST_CASE("expression: statements name leaves and results") {
  const Computed computed = compute("a = [1, 2]; b = -1.5\n c = sum(a * x) + b; d = 2 * c;",
                                    {{"x", full({}, 3, float64)}, {"b", full({}, 1, float64)}});
  CHECK(computed.leaves == Texts{"a", "b", "x"});
  CHECK(values(computed.named.at("a")) == Values{1, 2});
  CHECK(computed.named.at("b").item() == 1);  // the given value replaces that of the text
  CHECK(computed.named.at("c").item() == 10);
  CHECK(computed.result.item() == 20);
  CHECK(compute("u * v", {}).leaves == Texts{"u", "v"});
}

TEST_CASE("expression: errors say where") {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "position 1: there is no formula"},
      {"x +", "position 4: a value is missing"},
      {"x + * 2", "position 5: unexpected *"},
      {"tanh(x", "position 7: ) is missing"},
      {"x + tanh", "position 5: tanh is a function and needs parentheses"},
      {"2 x", "position 3: unexpected x"},
      {"1 + foo(x)", "position 5: there is no function foo; there are exp, log"},
      {"[1, 2] * [1, 2, 3]", "position 8: a list of 2 numbers meets one of 3"},
      {"[1, 2] * x", "the last result has 2 numbers; make one of them by sum or mean"},
      {"softmax(x)", "position 1: softmax needs a list"},
      {"[1, a]", "position 5: a number is missing"},
      {"x = 1; x = 2", "x has a value already"},
      {"exp = 1", "exp is a function; choose another name"},
      {"x $ 1", "position 3: unexpected $"},
      {"梦", "position 1: unexpected character"},
      {"sum([1,2,3,4,5,6,7,8,9])", "a list has at most 8 numbers"},
  };
  for (const auto& [text, message] : wrong) {
    CAPTURE(text);
    CHECK_THROWS_WITH(compute(text, {}), doctest::Contains(message));
  }
  CHECK_THROWS_WITH(compute(std::string(1000, '('), {}), doctest::Contains("the formula is too deep"));
  CHECK_THROWS_WITH(compute(std::string(2001, ' '), {}), doctest::Contains("longer than 2000"));
}
