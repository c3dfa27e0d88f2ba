#include "tensor/source_line.h"

#include "tests/support/expect.h"

TEST_CASE("lines of tests are user code, lines of the library are not") {
  const auto line = SourceLocation::current();
  CHECK(at(line) == std::string("at ") + __FILE__ + ":" + std::to_string(line.line()));
  CHECK(at({}) == "at an unknown line");
  CHECK(is_user_code(line));
  CHECK_FALSE(is_user_code({}));
  CHECK_FALSE(is_user_code(detail::library_line()));
}
