#include "examples/shared/base64.h"

#include "tests/support/expect.h"

TEST_CASE("base64: the examples of RFC 4648, and all bits") {
  using program::base64;
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xfb\xff\xfe") == "+//+");
}
