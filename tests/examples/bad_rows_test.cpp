#include "examples/bad_rows.h"

#include "tests/support/expect.h"

using program::BadRows;

TEST_CASE("bad rows: a table of the first twenty, and how many more") {
  BadRows none("a.csv", false), many("a.csv", false), skipped("a.csv", true);
  none.note(1, [] {});
  CHECK(none.count() == 0);
  for (int64_t line = 1; line <= 25; ++line)
    for (BadRows* rows : {&many, &skipped})
      rows->note(line, [&] { heed::check(line % 5 == 0, "is not one of five"); });
  CHECK(skipped.count() == 20);
  many.note(30, [] { heed::fail("is the last"); });
  const std::string error = message([&] { many.count(); });
  CHECK(contains(error, "a.csv: 21 rows cannot be used"));
  CHECK(contains(error, "24  is not one of five\n  and 1 more"));
  CHECK_FALSE(contains(error, "is the last"));
}
