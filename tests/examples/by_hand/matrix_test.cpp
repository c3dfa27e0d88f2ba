#include "examples/by_hand/matrix.h"

#include <doctest/doctest.h>
#include <sstream>

#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"

using namespace program;

TEST_CASE("Matrix: products, transposes and softmax equal the library's") {
  const Matrix a = {{1, -2, 3}, {0.5, 4, 0}}, b = {{2, 1}, {0, -1}, {3, 5}};
  CHECK((a * b).values == std::vector<double>{11, 18, 1, -3.5});
  CHECK(transpose(a).values == std::vector<double>{1, 0.5, -2, 4, 3, 0});
  CHECK((2 * a).values == std::vector<double>{2, -4, 6, 1, 8, 0});
  CHECK((a + 2 * a).values == (3 * a).values);
  CHECK(row(b, 2).values == std::vector<double>{3, 5});
  CHECK(stacked({row(b, 0), b}).values == std::vector<double>{2, 1, 2, 1, 0, -1, 3, 5});
  CHECK(side_by_side({a, 2 * a}).values == std::vector<double>{1, -2, 3, 2, -4, 6, 0.5, 4, 0, 1, 8, 0});
  CHECK(largest_difference(softmax_rows(a), Matrix(heed::softmax(a.tensor(), -1))) < 1e-15);
  CHECK(largest_difference(a, a) == 0);
  CHECK(largest_difference(a, b) > 1e300);
  CHECK(largest_difference(Matrix{{1, NAN, 2}}, Matrix{{1, 1, 2}}) > 1e300);
  CHECK_THROWS_AS(a * a, heed::Error);
  CHECK_THROWS_AS(a + b, heed::Error);
  CHECK_THROWS_AS(stacked({a, b}), heed::Error);
}

TEST_CASE("Matrix: printed with its shape; wide ones are truncated") {
  std::ostringstream out;
  print(out, "m", {{1, -0.25}});
  print(out, "none", {{-0.0, -NAN}});
  print(out, "wide", Matrix(1, 9));
  CHECK(row_text({{1, 2}, {0.5, -3}}, 1) == "(0.5, -3)");
  CHECK(out.str() ==
        "m   [1, 2]\n    1.0000   -0.2500\nnone   [1, 2]\n    0.0000       nan\nwide   [1, 9]\n"
        "    0.0000    0.0000    0.0000    0.0000    0.0000    0.0000    0.0000    0.0000  ...\n");
}
