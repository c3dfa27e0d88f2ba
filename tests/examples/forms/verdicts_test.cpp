#include "examples/forms/verdicts.h"

#include "tests/support/expect.h"

namespace {

program::Trained recalled(const std::string& form, double accuracy) {
  return {.form = form, .task = "recall", .accuracy = accuracy};
}

}  // namespace

TEST_CASE("verdicts: recall") {
  CHECK(
      program::judge({recalled("linear", 0.5), recalled("delta", 0.8)}).empty());  // nothing to compare with
  auto verdicts = program::judge({recalled("softmax", 0.9), recalled("linear", 0.5), recalled("delta", 0.8)});
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[0].name == "linear_fails");
  CHECK(verdicts[0].holds);
  CHECK(verdicts[0].numbers == "softmax 0.9, linear 0.5");
  CHECK(verdicts[1].name == "delta_repairs");
  CHECK(verdicts[1].holds);
  verdicts = program::judge({recalled("softmax", 0.9), recalled("linear", 0.5), recalled("delta", 0.6)});
  CHECK(!verdicts[1].holds);
  verdicts = program::judge({recalled("softmax", 0.6), recalled("linear", 0.5), recalled("delta", 0.9)});
  CHECK(!verdicts[0].holds);
  CHECK(!verdicts[1].holds);  // there was nothing to repair
}

TEST_CASE("verdicts: longer texts, and hard attention") {
  std::vector<program::Trained> trained;
  for (const auto& [form, beyond] : {std::pair("alibi", 1.1), {"window", 1.5}, {"learned", 2.0}})
    trained.push_back({.form = form, .task = "text", .loss = 1, .longer_loss = beyond});
  trained.push_back({.form = "hard", .task = "copy", .steps = 100});
  trained.push_back({.form = "hard_baseline", .task = "copy", .steps = 100, .halved_after = 60});
  auto verdicts = program::judge(trained);
  REQUIRE(verdicts.size() == 4);
  CHECK(verdicts[0].holds);
  CHECK(!verdicts[1].holds);
  CHECK(verdicts[2].holds);
  CHECK(verdicts[2].numbers == "within 1, beyond 2");
  CHECK(verdicts[3].holds);
  CHECK(verdicts[3].numbers == "without after more than 100 steps, with after 60");
  trained[3].halved_after = 80;
  CHECK(!program::judge(trained)[3].holds);
}
