#include "tensor/table.h"

#include "tests/support/expect.h"

TEST_CASE("display_width: wide characters take two columns, combining marks none, invalid bytes one") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("é") == 1);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("注意力") == 6);
  CHECK(display_width("\xff\xe6") == 2);
  CHECK(display_width("") == 0);
}

TEST_CASE("Table: columns are aligned, numbers at the right") {
  Table table({"name", "size", "note"});
  table.add({"注意", "1,024", "a"});
  table.add({"b", "8", ""});
  CHECK(table.to_string("  ") ==
        "  name   size  note\n"
        "  注意  1,024  a\n"
        "  b         8");
  CHECK(Table({"a", "b"}).to_string() == "a  b");
  CHECK_ERROR(Table({"a", "b"}).add({"x"}), "Table: a row of 1 cells for 2 columns");
}
