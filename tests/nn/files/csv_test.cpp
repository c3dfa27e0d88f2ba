#include "nn/files/csv.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace {

CsvTable csv_of(const std::string& text, const Texts& columns = {}, DType dtype = float64) {
  const Folder folder;
  return read_csv(folder.write("a.csv", text), {.columns = columns, .dtype = dtype});
}

// The error message without the folder.
std::string csv_refusal(const std::string& text, const Texts& columns = {}, DType dtype = float64) {
  const std::string error = message([&] { csv_of(text, columns, dtype); });
  return error.substr(error.rfind('/') + 1);
}

}  // namespace

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
           std::string("\nt;v\n1;-2\n3.5;4e2\n"),
           std::string("\r\n  \r\nt\tv\r\n1\t-2\r\n3.5\t4e2\r\n"),
       }) {
    CAPTURE(text);
    const CsvTable table = csv_of(text);
    CHECK(table.names == Texts{"t", "v"});
    CHECK(table.values.shape() == Shape{2, 2});
    CHECK(values(table.values) == Values{1, -2, 3.5, 400});
    CHECK(table.skipped == 0);
  }
}

TEST_CASE("csv: columns by name and by number, in any order; other columns may contain anything") {
  const std::string table = "id,\"a, \"\"b\"\"\",c\nu,1,2\n\"two\nlines\",3,4\n,5,6\n";
  const CsvTable named = csv_of(table, {"c", "a, \"b\""});
  CHECK(values(named.values) == Values{2, 1, 4, 3, 6, 5});
  CHECK(named.names == Texts{"c", "a, \"b\""});
  CHECK(values(csv_of(table, {"2", "3"}).values) == Values{1, 2, 3, 4, 5, 6});
  CHECK(values(csv_of(table, {"3"}).values) == Values{2, 4, 6});

  const std::string numbers = "1,2,3\n4,5,6\n";  // no header: the first line is data
  CHECK(csv_of(numbers).values.shape() == Shape{2, 3});
  CHECK(csv_of(numbers).names == Texts{"column 1", "column 2", "column 3"});
  CHECK(values(csv_of(numbers, {"3", "1"}).values) == Values{3, 1, 6, 4});
  CHECK(values(csv_of(numbers, {"", ""}).values) == Values{1, 2, 4, 5});
  CHECK(values(csv_of(numbers, {"2", ""}).values) == Values{2, 1, 5, 4});  // "" is the first other column
  CHECK(values(csv_of(numbers, {"", "1"}).values) == Values{2, 1, 5, 4});
  CHECK(values(csv_of("2019,x\n1,2\n", {"x", "2019"}).values) == Values{2, 1});
  CHECK(csv_of("x,y\n").values.shape() == Shape{0, 2});
  CHECK(values(csv_of("\n1;2\n3;4\n").values) == Values{1, 2, 3, 4});
  CHECK(values(csv_of("\tx\n1\t2\n").values) == Values{1, 2});  // a column without a name
}

TEST_CASE("csv: the dtype of the values") {
  const Folder folder;
  const std::string path = folder.write("a.csv", "0.1,1e300\n");
  CHECK(read_csv(path, {.columns = {"1"}}).values.dtype() == float32);
  CHECK(values(read_csv(path, {.dtype = float64}).values) == Values{0.1, 1e300});
  CHECK(contains(csv_refusal("0.1,1e300\n", {}, float32), "column 2: \"1e300\" is too large for the dtype"));
  CHECK(values(csv_of("1e-400,-1e-9999,4e-320,0." + std::string(400, '0') + "1\n").values) ==
        Values{0, 0, 4e-320, 0});
  CHECK(values(csv_of("1e-50,-1e-400,1,1\n", {}, float32).values) == Values{0, 0, 1, 1});
  CHECK(contains(csv_refusal("-1e9999\n"), "\"-1e9999\" is too large for the dtype"));
  CHECK(contains(csv_refusal(std::string(400, '9') + "e-5\n"), "is too large for the dtype"));
  CHECK_ERROR(read_csv(path, {.dtype = int64}), "read_csv: dtype is int64; it must be float32 or float64");
}

TEST_CASE("csv: errors name the place and a remedy") {
  const std::string table = "t,name,v\n1,u,2\n2,w,3\n";
  CHECK_ERROR(read_csv("/nonexistent/a.csv"),
              "/nonexistent/a.csv: cannot be read; does it exist, and is it a file?");
  CHECK(csv_refusal("") == "a.csv: is empty");
  CHECK(csv_refusal("\n \r\n") == "a.csv: is empty");
  const std::string one =
      "a.csv: 1 row cannot be used; correct or remove what is wrong, or skip bad rows\n  line  what is "
      "wrong\n";
  CHECK(csv_refusal("x,y\n1,2\nabc,3\n") == one + "     3  column \"x\": \"abc\" is not a number");
  CHECK(csv_refusal("1,2\n3,NaN\n") == one + "     2  column 2: \"NaN\" is not a finite number");
  CHECK(contains(csv_refusal("x,y\n1,-inf\n"), "is not a finite number"));
  CHECK(contains(csv_refusal("x,y\n1,\n"), "column \"y\": \"\" is empty"));
  CHECK(contains(csv_refusal("x,y\n1e400,1\n"), "\"1e400\" is too large for the dtype"));
  CHECK(contains(csv_refusal(",\n1,2\n"), "     1  column 1: \"\" is empty"));
  CHECK(contains(csv_refusal("x;y\n1,5;2\n"), "\"1,5\" is not a number; write a decimal point"));
  CHECK(contains(csv_refusal("x,y\n0x10,2\n"), "\"0x10\" is not a number"));
  CHECK(csv_refusal("x,y\n1,2\n3\n") ==
        one + "     3  the row has 1 field, the first line has 2; quote a text that contains a separator");
  CHECK(contains(csv_refusal("x,y\n1,2,3\n"), "     2  the row has 3 fields"));
  CHECK(contains(csv_refusal("x,y\n1,\"2\n3,4\n"), "line 2: a quoted field has no closing \""));
  CHECK(contains(csv_refusal("x,y\n1,\"2\"3\n"), "line 2: text follows the closing \""));
  CHECK(contains(csv_refusal("x,name,y\n1,\"two\nlines\",2\n1,u,v\n", {"x", "y"}), "   4  column \"y\""));
  CHECK(csv_refusal(table, {"zz"}) ==
        "a.csv, line 1: there is no column \"zz\"; the file has 3 columns: \"t\", \"name\", \"v\"");
  CHECK(contains(csv_refusal(table, {"4"}), "there is no column \"4\""));
  CHECK(contains(csv_refusal(table, {"0"}), "there is no column \"0\""));
  CHECK(contains(csv_refusal("1,2\n", {"3"}),
                 "there is no column \"3\"; the file has 2 columns without names"));
  CHECK(contains(csv_refusal(table, {"t", "1"}), "\"1\" is column 1, which is read already; name another"));
  CHECK(contains(csv_refusal("x,x\n1,2\n", {"x"}), "\"x\" appears twice; give its number instead"));
  CHECK(
      csv_refusal("x y\n1 2\n", {"", ""}) ==
      "a.csv, line 1: 2 columns are needed; the file has 1 column: \"x y\"; fields are separated by commas, "
      "semicolons or tabs");
  CHECK(csv_refusal(std::string("\xFF\xFEx\0,\0", 6)) == "a.csv: is not UTF-8 text; save it as CSV in UTF-8");
  CHECK(contains(csv_refusal(std::string("x,y\n1,\0002\n", 9)), "is not UTF-8 text"));
  CHECK(csv_refusal("x,y\n" + std::string(5000, 'a') + ",1\n").size() < 250);
}

TEST_CASE("csv: invalid rows are reported together, or skipped and counted") {
  const std::string text = "x,y\n1,2\na,3\n4\n5,6\n7,\n";
  const std::string error = csv_refusal(text);
  for (const char* part : {"a.csv: 3 rows cannot be used", "3  column \"x\": \"a\"", "4  the row has 1 field",
                           "6  column \"y\": \"\" is empty"})
    CHECK(contains(error, part));
  const Folder folder;
  const CsvTable table = read_csv(folder.write("a.csv", text), {.skip_bad = true});
  CHECK(values(table.values) == Values{1, 2, 5, 6});
  CHECK(table.skipped == 3);
}
