#include "examples/playground/functions.h"
#include "tests/support/results.h"

TEST_CASE("playground: --json has the first request of each function and its answer") {
  const Json results = results_of("playground", "");
  CHECK(results.size() == program::functions().size());
  for (const program::Function& function : program::functions()) {
    const Json& one = results[function.name];
    CHECK(one["request"].get<std::vector<float>>() == function.first_request());
    CHECK(one["answer"].get<std::vector<float>>() == function.run(function.first_request()));
  }
}
