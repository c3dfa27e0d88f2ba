#include "tensor/lists.h"

#include "tests/support/expect.h"

TEST_CASE("mapped: a function or member of each element") {
  struct Point {
    int x, y;
  };
  const std::vector<Point> points = {{1, 2}, {3, 4}};
  CHECK(detail::mapped(points, [](const Point& p) { return p.x * p.y; }) == std::vector<int>{2, 12});
  CHECK(detail::mapped(points, &Point::y) == std::vector<int>{2, 4});
  CHECK(detail::mapped(std::vector<Point>(), &Point::x).empty());
}

TEST_CASE("listed: elements as text, with a separator") {
  CHECK(detail::listed(std::vector<std::string>{"a", "b"}) == "a, b");
  CHECK(detail::listed(std::vector<double>{1, 0.5}, " ") == "1 0.5");
  CHECK(detail::listed(Shape{2, 3}, "x") == "2x3");
  CHECK(detail::listed(Shape{}).empty());
}
