#include "examples/playground/functions.h"

#include <set>

#include "tests/support/expect.h"

using namespace program;

TEST_CASE("functions: names are different, and each answers its first request with finite numbers") {
  std::set<std::string> names;
  for (const Function& function : functions()) {
    CAPTURE(function.name);
    CHECK(names.insert(function.name).second);
    const std::vector<float> request = function.first_request(), answer = function.run(request);
    CHECK(!answer.empty());
    CHECK(std::ranges::all_of(answer, [](float x) { return std::isfinite(x); }));
    CHECK(function.run(request) == answer);
    CHECK_THROWS_AS(function.run({}), Error);
    CHECK(&function_of(function.name) == &function);
  }
  CHECK_THROWS_WITH(function_of("none"), "the playground has no function none");
}
