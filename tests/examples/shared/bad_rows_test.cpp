#include "examples/shared/bad_rows.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

using program::BadRows;

TEST_CASE("BadRows: a table of the first twenty rows and the number of others") {
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

TEST_CASE("each_line removes byte order marks, line ends and empty lines") {
  const Folder folder;
  const std::string file = folder.write("a.txt", "\xEF\xBB\xBF one\r\n\n \t\r\ntwo\nthree");
  Texts lines;
  CHECK(program::each_line(file, false, [&](std::string_view line) { lines.emplace_back(line); }) == 0);
  CHECK(lines == Texts{" one", "two", "three"});
  const auto refuse = [](std::string_view line) { heed::check(line.size() > 3, "is short"); };
  CHECK(program::each_line(file, true, refuse) == 1);
  CHECK_ERROR_HAS(program::each_line(file, false, refuse), "a.txt: 1 row cannot be used");
  CHECK_ERROR_HAS(program::each_line(file, false, refuse), "4  is short");
  CHECK(program::each_line(folder.write("b.txt", ""), false, refuse) == 0);
}
