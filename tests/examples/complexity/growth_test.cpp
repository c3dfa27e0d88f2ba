#include "examples/complexity/growth.h"

#include <sstream>

#include "tests/support/expect.h"

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
  CHECK(program::compared_with_theory(1.98, 2) == "T^1.98   theory T^2");
  CHECK(contains(program::compared_with_theory(1.5, 2), "off: something else kept the machine busy"));
  CHECK(program::scaled({{1, 2}, {3}}, 10) == std::vector<program::Numbers>{{10, 20}, {30}});
}

TEST_CASE("growth: a row of a table") {
  std::ostringstream out;
  program::print_row(out, "name", program::cells_of(Values{1, 2.5}, program::short_number), "more");
  CHECK(out.str() == "  name                             1       2.5   more\n");
}
