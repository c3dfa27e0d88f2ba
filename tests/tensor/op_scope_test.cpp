#include "tensor/op_scope.h"

#include "tests/support/expect.h"

TEST_CASE("a message names the outermost operation and its line, and in backward the rule") {
  const auto text = [] { return whole_message([] { fail("wrong"); }); };
  const auto here = std::source_location::current();
  const std::string place = std::string(here.file_name()) + ":" + std::to_string(here.line());
  const std::string outer = "outer: wrong; called at " + place;
  {
    const OpScope first("outer", here);
    {
      const OpScope second("inner", here);
      CHECK(text() == outer);
    }
    CHECK(text() == outer);
    CHECK(whole_message([] { fail_in("other", "wrong"); }) == "other: wrong; called at " + place);
    const OpScope rule("op", here, OpScope::Role::rule);
    CHECK(text() == "op: wrong; in the gradient rule of op, called at " + place);
    CHECK(whole_message([] { fail_in("op", "all said"); }) == "op: all said");
    const OpScope inside("inside");
    CHECK(text() == "inside: wrong; in the gradient rule of op, called at " + place);
    CHECK(OpScope::rule() == &rule);
  }
  CHECK(text() == "wrong");
  CHECK(OpScope::rule() == nullptr);

  const Threads threads(3);
  const OpScope first("outer", here);
  CHECK(whole_message([] { parallel_for(64, 1, [](int64_t, int64_t) { fail("wrong"); }); }) == outer);
}
