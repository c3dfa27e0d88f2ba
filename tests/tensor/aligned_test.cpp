#include "tensor/aligned.h"

#include "tests/support/expect.h"

using Marks = Aligned::Marks;

TEST_CASE("two shapes below each other, with marks below mismatched sizes") {
  const Shape a{8, 2, 3}, b{4, 3}, wide{1000, 2}, one{5}, none;
  CHECK(below_message(Aligned{"a", a, "b", b, Marks::broadcast}) == R"(
  a  [8, 2, 3]
  b     [4, 3]
         ^)");
  CHECK(below_message(Aligned{"a", a, "b", b, Marks::unequal}) == R"(
  a  [8, 2, 3]
  b     [4, 3]
      ^  ^)");
  CHECK(below_message(Aligned{"b", b, "the other", wide, Marks::last}) == R"(
  b             [4, 3]
  the other  [1000, 2]
                    ^)");
  CHECK(below_message(Aligned{"a", a, "b", b, Marks::last, 1}) == R"(
  a  [8, 2, 3]
  b        [4, 3]
            ^)");
  CHECK(below_message(Aligned{"a", one, "b", a, Marks::last, 1}) == R"(
  a     [5]
  b  [8, 2, 3]
         ^)");
  CHECK(below_message(Aligned{"input", none, "target", one, Marks::unequal}) == R"(
  input    []
  target  [5]
           ^)");
  CHECK(below_message(Aligned{"a", none, "b", none, Marks::broadcast}) == "\n  a  []\n  b  []\n");
}
