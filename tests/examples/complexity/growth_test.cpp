#include "examples/complexity/growth.h"

#include <sstream>

#include "tests/support/expect.h"
#include "tests/support/program.h"

TEST_CASE("growth: lengths and exponents") {
  CHECK(program::doubled(8, 40) == std::vector<int64_t>{8, 16, 32});
  const std::vector<int64_t> lengths = {1, 2, 4, 8, 16};
  program::Numbers squares, lines;
  for (const int64_t T : lengths) {
    squares.push_back(3 * static_cast<double>(T * T));
    lines.push_back(5 * static_cast<double>(T));
  }
  squares[0] = lines[0] = 1000;  // only the three largest lengths count
  CHECK(program::exponent(lengths, squares) == doctest::Approx(2));
  CHECK(program::exponent(lengths, lines) == doctest::Approx(1));
  CHECK_ERROR_HAS(program::exponent({1, 2}, {1, 2}), "it needs at least 3 lengths, and a value for each");
  CHECK_ERROR_HAS(program::exponent({1, 2, 4}, {1, 2}), "an exponent of 2 values at 3 lengths");
  CHECK(program::compared_with_theory(1.98, 2) == "T^1.98   theory T^2");
  CHECK(contains(program::compared_with_theory(1.5, 2), "off: something else kept the machine busy"));
  CHECK(program::scaled({{1, 2}, {3}}, 10) == std::vector<program::Numbers>{{10, 20}, {30}});
}

TEST_CASE("growth: a row of a table") {
  std::ostringstream out;
  program::print_row(out, "name", program::cells_of(Values{1, 2.5}, program::short_number), "more");
  CHECK(out.str() == "  name                             1       2.5   more\n");
}

TEST_CASE("growth: more lines than colors") {
  const Folder folder;
  program::Program self("complexity", "");
  self.out = folder.path.string();
  plot_lines(self, "lines", "Lines", "y", {1, 2}, {"a", "b", "c", "d"}, {{1, 2}, {2, 3}, {3, 4}, {4, 5}}, {});
  CHECK(read_file(folder / "lines.csv") == "T,a,b,c,d\n1,1,2,3,4\n2,2,3,4,5\n");
  CHECK(occurrences(read_file(folder / "lines.gp"), "linecolor '#0072B2'") == 2);  // of a and d
}
