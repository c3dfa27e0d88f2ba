#include "nn/files/text_file.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

TEST_CASE("BadRows: a table of the first twenty rows and the number of others") {
  BadRows none("a.csv", false), many("a.csv", false), skipped("a.csv", true);
  none.note(1, [] {});
  CHECK(none.count() == 0);
  for (int64_t line = 1; line <= 25; ++line)
    for (BadRows* rows : {&many, &skipped})
      rows->note(line, [&] { check(line % 5 == 0, "is not one of five"); });
  CHECK(skipped.count() == 20);
  many.note(30, [] { fail("is the last"); });
  const std::string error = message([&] { many.count(); });
  CHECK(contains(error, "a.csv: 21 rows cannot be used"));
  CHECK(contains(error, "24  is not one of five\n  and 1 more"));
  CHECK_FALSE(contains(error, "is the last"));
}

TEST_CASE("each_line removes byte order marks, line ends and empty lines") {
  const Folder folder;
  const std::string file = folder.write("a.txt", "\xEF\xBB\xBF one\r\n\n \t\r\ntwo\nthree");
  Texts lines;
  CHECK(each_line(file, false, [&](std::string_view line) { lines.emplace_back(line); }) == 0);
  CHECK(lines == Texts{" one", "two", "three"});
  const auto refuse = [](std::string_view line) { check(line.size() > 3, "is short"); };
  CHECK(each_line(file, true, refuse) == 1);
  CHECK_ERROR_HAS(each_line(file, false, refuse), "a.txt: 1 row cannot be used");
  CHECK_ERROR_HAS(each_line(file, false, refuse), "4  is short");
  CHECK(each_line(folder.write("b.txt", ""), false, refuse) == 0);
}

TEST_CASE("read_text: UTF-8 without its byte order mark; errors name the invalid byte") {
  const Folder folder;
  CHECK(read_text(folder.write("a", "\xEF\xBB\xBF我\r\n")) == "我\r\n");
  CHECK(read_text(folder.write("b", "")).empty());
  CHECK(message([&] { read_text(folder.write("c", "ab\xff")); }) ==
        folder / "c" + ": byte 2 of the text is not UTF-8; save the text in UTF-8");
}

TEST_CASE("read_bytes: all bytes of files and pipes; an error for folders and missing files") {
  const Folder folder;
  const std::string bytes("a\0\xff\r\n", 5), path = folder.write("a", bytes);
  CHECK(read_bytes(path) == bytes);
  const std::string pipe = folder / "pipe";
  CHECK(run_shell("mkfifo '" + pipe + "' && { cat '" + path + "' > '" + pipe + "' & }").code == 0);
  CHECK(read_bytes(pipe) == bytes);
  CHECK_ERROR(read_bytes("/nonexistent/a"),
              "/nonexistent/a: cannot be read; does it exist, and is it a file?");
  CHECK_ERROR(read_bytes("/tmp"), "/tmp: cannot be read; does it exist, and is it a file?");
}

TEST_CASE("trim and without_byte_order_mark") {
  CHECK(trim(" \t a b\t ") == "a b");
  CHECK(trim(" \t").empty());
  CHECK(without_byte_order_mark("\xEF\xBB\xBF我") == "我");
  CHECK(without_byte_order_mark("\xEF\xBB") == "\xEF\xBB");
}
