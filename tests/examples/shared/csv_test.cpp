#include "examples/shared/csv.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

using program::Columns;
using program::read_csv;

static Columns read_columns(const std::string& text, const std::string& x = "", const std::string& y = "") {
  const Folder folder;
  return read_csv(folder.write("a.csv", text), x, y);
}

// The error message without the folder.
static std::string csv_refusal(const std::string& text, const std::string& x = "",
                               const std::string& y = "") {
  const std::string error = message([&] { read_columns(text, x, y); });
  return error.substr(error.rfind('/') + 1);
}

TEST_CASE("csv: variants of the format") {
  const std::string bom = "\xEF\xBB\xBF";
  for (const std::string& text : {
           std::string("t,v\n1,-2\n3.5,4e2\n"),
           std::string("t,v\n1,-2\n3.5,4e2"),
           std::string("t,v\r\n1,-2\r\n3.5,4e2\r\n"),
           std::string("t,v\r1,-2\r3.5,4e2\r"),
           bom + "t,v\n1,-2\n3.5,4e2\n",
           bom + "\"t\",\"v\"\r\n\"1\",\"-2\"\r\n\"3.5\",\"4e2\"\r\n",
           std::string("t;v\n1;-2\n3.5;4e2\n"),
           std::string("t\tv\n1\t-2\n3.5\t4e2\n"),
           std::string(" t , v \n 1 , -2\n\n+3.5, \"4e2\" \n  \n\n"),
       }) {
    CAPTURE(text);
    const Columns columns = read_columns(text);
    CHECK(columns.x_name == "t");
    CHECK(columns.y_name == "v");
    CHECK(columns.x == Values{1, 3.5});
    CHECK(columns.y == Values{-2, 400});
  }
}

TEST_CASE("csv: columns by name and by number; other columns may contain anything") {
  const std::string table = "id,\"a, \"\"b\"\"\",c\nu,1,2\n\"two\nlines\",3,4\n,5,6\n";
  CHECK(read_columns(table, "c", "a, \"b\"").x == Values{2, 4, 6});
  CHECK(read_columns(table, "c", "a, \"b\"").y_name == "a, \"b\"");
  CHECK(read_columns(table, "2", "3").y == Values{2, 4, 6});
  CHECK(read_columns("1,2,3\n4,5,6\n").y == Values{2, 5});  // no header: the first line is data
  CHECK(read_columns("1,2,3\n4,5,6\n").x_name == "column 1");
  CHECK(read_columns("1,2,3\n4,5,6\n", "3", "1").x == Values{3, 6});
  CHECK(read_columns("1,2,3\n4,5,6\n", "2").y == Values{1, 4});  // y is the first other column
  CHECK(read_columns("2019,x\n1,2\n", "x", "2019").y == Values{1});
  CHECK(read_columns("x,y\n").x.empty());
}

TEST_CASE("csv: errors name the place and a remedy") {
  const std::string table = "t,name,v\n1,u,2\n2,w,3\n";
  CHECK_ERROR(read_csv("/nonexistent/a.csv", "", ""),
              "/nonexistent/a.csv: cannot be read; is it there, and is it a file?");
  CHECK_ERROR(read_csv("/tmp", "", ""), "/tmp: cannot be read; is it there, and is it a file?");
  CHECK(csv_refusal("") == "a.csv: is empty");
  CHECK(csv_refusal("\n \r\n") == "a.csv: is empty");
  const std::string one =
      "a.csv: 1 row cannot be used; correct or remove what is wrong, or pass over it by --skip-bad\n  line  "
      "what is wrong\n";
  CHECK(csv_refusal("x,y\n1,2\nabc,3\n") == one + "     3  column \"x\": \"abc\" is not a number");
  CHECK(csv_refusal("1,2\n3,NaN\n") == one + "     2  column 2: \"NaN\" is not a finite number");
  CHECK(contains(csv_refusal("x,y\n1,-inf\n"), "is not a finite number"));
  CHECK(contains(csv_refusal("x,y\n1,\n"), "column \"y\": \"\" is empty"));
  CHECK(contains(csv_refusal("x,y\n1e400,1\n"), "does not fit a 64-bit number"));
  CHECK(contains(csv_refusal("x;y\n1,5;2\n"), "\"1,5\" is not a number; write a decimal point"));
  CHECK(contains(csv_refusal("x,y\n0x10,2\n"), "\"0x10\" is not a number"));
  CHECK(
      csv_refusal("x,y\n1,2\n3\n") ==
      one +
          "     3  the row has 1 field, the first line has 2; a text that holds a separator is put in \"\"");
  CHECK(contains(csv_refusal("x,y\n1,2,3\n"), "     2  the row has 3 fields"));
  CHECK(contains(csv_refusal("x,y\n1,\"2\n3,4\n"), "line 2: a quoted field is not closed"));
  CHECK(contains(csv_refusal("x,y\n1,\"2\"3\n"), "line 2: text after the closing \""));
  CHECK(contains(csv_refusal("x,name,y\n1,\"two\nlines\",2\n1,u,v\n", "x", "y"), "   4  column \"y\""));
  CHECK(csv_refusal(table, "zz") ==
        "a.csv, line 1: there is no column \"zz\"; there are 3: \"t\", \"name\", \"v\"");
  CHECK(contains(csv_refusal(table, "4"), "there is no column \"4\""));
  CHECK(contains(csv_refusal(table, "0"), "there is no column \"0\""));
  CHECK(contains(csv_refusal(table, "t", "1"), "x and y are the same column, 1"));
  CHECK(contains(csv_refusal("x,x\n1,2\n", "x", "2"), "\"x\" is there twice; give its number"));
  CHECK(contains(csv_refusal("x y\n1 2\n"), "separated by commas, semicolons or tabs"));
  CHECK(csv_refusal(std::string("\xFF\xFEx\0,\0", 6)) == "a.csv: is not UTF-8 text; save it as CSV in UTF-8");
  CHECK(contains(csv_refusal(std::string("x,y\n1,\0002\n", 9)), "is not UTF-8 text"));
  CHECK(csv_refusal("x,y\n" + std::string(5000, 'a') + ",1\n").size() < 250);
}

TEST_CASE("csv: invalid rows are reported together, or skipped and counted") {
  const std::string table = "x,y\n1,2\na,3\n4\n5,6\n7,\n";
  const std::string error = csv_refusal(table);
  for (const char* part : {"a.csv: 3 rows cannot be used", "3  column \"x\": \"a\"", "4  the row has 1 field",
                           "6  column \"y\": \"\" is empty"})
    CHECK(contains(error, part));
  const Folder folder;
  const Columns columns = read_csv(folder.write("a.csv", table), "", "", true);
  CHECK(columns.x == Values{1, 5});
  CHECK(columns.y == Values{2, 6});
  CHECK(columns.skipped == 3);
}

TEST_CASE("read_text: UTF-8 without its byte order mark; errors name the invalid byte") {
  const Folder folder;
  CHECK(program::read_text(folder.write("a", "\xEF\xBB\xBF我\r\n")) == "我\r\n");
  CHECK(program::read_text(folder.write("b", "")).empty());
  CHECK(message([&] { program::read_text(folder.write("c", "ab\xff")); }) ==
        folder / "c" + ": byte 2 of the text is not UTF-8; save the text in UTF-8");
}
