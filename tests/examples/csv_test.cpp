#include "examples/csv.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

using program::Columns;
using program::read_csv;

namespace {

Columns read(const std::string& text, const std::string& x = "", const std::string& y = "") {
  const Folder folder;
  return read_csv(folder.write("a.csv", text), x, y);
}

// The error, without the folder.
std::string refusal(const std::string& text, const std::string& x = "", const std::string& y = "") {
  const std::string error = message([&] { read(text, x, y); });
  return error.substr(error.rfind('/') + 1);
}

}  // namespace

TEST_CASE("csv: one table in many spellings") {
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
    const Columns columns = read(text);
    CHECK(columns.x_name == "t");
    CHECK(columns.y_name == "v");
    CHECK(columns.x == Values{1, 3.5});
    CHECK(columns.y == Values{-2, 400});
  }
}

TEST_CASE("csv: columns by name and by number, other columns may hold anything") {
  const std::string table = "id,\"a, \"\"b\"\"\",c\nu,1,2\n\"two\nlines\",3,4\n,5,6\n";
  CHECK(read(table, "c", "a, \"b\"").x == Values{2, 4, 6});
  CHECK(read(table, "c", "a, \"b\"").y_name == "a, \"b\"");
  CHECK(read(table, "2", "3").y == Values{2, 4, 6});
  CHECK(read("1,2,3\n4,5,6\n").y == Values{2, 5});  // no header: the first line is data
  CHECK(read("1,2,3\n4,5,6\n").x_name == "column 1");
  CHECK(read("1,2,3\n4,5,6\n", "3", "1").x == Values{3, 6});
  CHECK(read("1,2,3\n4,5,6\n", "2").y == Values{1, 4});  // y is the first of the others
  CHECK(read("2019,x\n1,2\n", "x", "2019").y == Values{1});
  CHECK(read("x,y\n").x.empty());
}

TEST_CASE("csv: what is wrong, where, and what to do") {
  const std::string table = "t,name,v\n1,u,2\n2,w,3\n";
  CHECK_ERROR(read_csv("/nonexistent/a.csv", "", ""),
              "/nonexistent/a.csv: cannot be read; is it there, and is it a file?");
  CHECK_ERROR(read_csv("/tmp", "", ""), "/tmp: cannot be read; is it there, and is it a file?");
  CHECK(refusal("") == "a.csv: is empty");
  CHECK(refusal("\n \r\n") == "a.csv: is empty");
  const std::string one =
      "a.csv: 1 row cannot be used; correct or remove what is wrong, or pass over it by --skip-bad\n  line  "
      "what is wrong\n";
  CHECK(refusal("x,y\n1,2\nabc,3\n") == one + "     3  column \"x\": \"abc\" is not a number");
  CHECK(refusal("1,2\n3,NaN\n") == one + "     2  column 2: \"NaN\" is not a finite number");
  CHECK(refusal("x,y\n1,-inf\n").find("is not a finite number") != std::string::npos);
  CHECK(refusal("x,y\n1,\n").find("column \"y\": \"\" is empty") != std::string::npos);
  CHECK(refusal("x,y\n1e400,1\n").find("does not fit a 64-bit number") != std::string::npos);
  CHECK(refusal("x;y\n1,5;2\n").find("\"1,5\" is not a number; write a decimal point") != std::string::npos);
  CHECK(refusal("x,y\n0x10,2\n").find("\"0x10\" is not a number") != std::string::npos);
  CHECK(
      refusal("x,y\n1,2\n3\n") ==
      one +
          "     3  the row has 1 field, the first line has 2; a text that holds a separator is put in \"\"");
  CHECK(refusal("x,y\n1,2,3\n").find("     2  the row has 3 fields") != std::string::npos);
  CHECK(refusal("x,y\n1,\"2\n3,4\n").find("line 2: a quoted field is not closed") != std::string::npos);
  CHECK(refusal("x,y\n1,\"2\"3\n").find("line 2: text after the closing \"") != std::string::npos);
  CHECK(contains(refusal("x,name,y\n1,\"two\nlines\",2\n1,u,v\n", "x", "y"), "   4  column \"y\""));
  CHECK(refusal(table, "zz") ==
        "a.csv, line 1: there is no column \"zz\"; there are 3: \"t\", \"name\", \"v\"");
  CHECK(refusal(table, "4").find("there is no column \"4\"") != std::string::npos);
  CHECK(refusal(table, "0").find("there is no column \"0\"") != std::string::npos);
  CHECK(refusal(table, "t", "1").find("x and y are the same column, 1") != std::string::npos);
  CHECK(refusal("x,x\n1,2\n", "x", "2").find("\"x\" is there twice; give its number") != std::string::npos);
  CHECK(refusal("x y\n1 2\n").find("separated by commas, semicolons or tabs") != std::string::npos);
  CHECK(refusal(std::string("\xFF\xFEx\0,\0", 6)) == "a.csv: is not UTF-8 text; save it as CSV in UTF-8");
  CHECK(refusal(std::string("x,y\n1,\0002\n", 9)).find("is not UTF-8 text") != std::string::npos);
  CHECK(refusal("x,y\n" + std::string(5000, 'a') + ",1\n").size() < 250);
}

TEST_CASE("csv: all rows that are wrong at once, or passed over and counted") {
  const std::string table = "x,y\n1,2\na,3\n4\n5,6\n7,\n";
  const std::string error = refusal(table);
  for (const char* part : {"a.csv: 3 rows cannot be used", "3  column \"x\": \"a\"", "4  the row has 1 field",
                           "6  column \"y\": \"\" is empty"})
    CHECK(contains(error, part));
  const Folder folder;
  const Columns columns = read_csv(folder.write("a.csv", table), "", "", true);
  CHECK(columns.x == Values{1, 5});
  CHECK(columns.y == Values{2, 6});
  CHECK(columns.skipped == 3);
}

TEST_CASE("read_text: UTF-8 without its mark, or the byte that is none") {
  const Folder folder;
  CHECK(program::read_text(folder.write("a", "\xEF\xBB\xBF我\r\n")) == "我\r\n");
  CHECK(program::read_text(folder.write("b", "")).empty());
  CHECK(message([&] { program::read_text(folder.write("c", "ab\xff")); }) ==
        folder / "c" + ": byte 2 of the text is not UTF-8; save the text in UTF-8");
}
