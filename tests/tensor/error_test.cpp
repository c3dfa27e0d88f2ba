#include "tensor/error.h"

#include <limits>

#include "tests/support/expect.h"

TEST_CASE("numbers have the shortest text that reads back exactly") {
  const struct {
    double value;
    const char* text;
  } rows[] = {{0, "0"},
              {-0.0, "-0"},
              {3, "3"},
              {0.1, "0.1"},
              {-2.5, "-2.5"},
              {1e-8, "1e-08"},
              {1e100, "1e+100"},
              {INFINITY, "inf"},
              {-INFINITY, "-inf"},
              {NAN, "nan"},
              {1.0 / 3, "0.3333333333333333"},
              {std::numeric_limits<double>::denorm_min(), "5e-324"}};
  for (const auto& row : rows) CHECK(to_string(row.value) == row.text);
}

TEST_CASE("a message is the concatenation of its parts") {
  const std::string name = "op";
  CHECK_ERROR(fail(name, ": ", 3, " of ", int64_t{-4}, ", ", 0.5, ", ", Shape{2, 3}, ", ", float64),
              "op: 3 of -4, 0.5, [2, 3], float64");
  CHECK_ERROR(check(false, "wrong"), "wrong");
  CHECK(message([] { check(true, "wrong"); }).empty());
  CHECK_THROWS_AS(fail("x"), std::runtime_error);
}
