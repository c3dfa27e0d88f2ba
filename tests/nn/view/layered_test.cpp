#include "nn/view/layered.h"

#include <random>

#include "tests/support/expect.h"

static bool overlap(const LayeredBox& a, const LayeredBox& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

static bool inside(const LayeredBox& box, const LayeredPoint& p) {
  return p.x > box.x && p.x < box.x + box.width && p.y > box.y && p.y < box.y + box.height;
}

TEST_CASE("layered: an input is above its users and centered between them; an empty graph") {
  const Layered one = layered({{40, 20}, {40, 20}, {40, 20}, {40, 20}}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  const auto center = [&](size_t i) { return one.boxes[i].x + one.boxes[i].width / 2; };
  CHECK(one.boxes[1].y == one.boxes[2].y);
  CHECK(one.boxes[0].y < one.boxes[1].y);
  CHECK(one.boxes[3].y > one.boxes[1].y);
  CHECK(center(0) == doctest::Approx((center(1) + center(2)) / 2));
  CHECK(center(3) == doctest::Approx(center(0)));
  CHECK(layered({}, {}).boxes.empty());
  CHECK(layered({{40, 20}}, {}).width > 40);
}

TEST_CASE("layered: operands keep their order, so that their edges do not cross") {
  const Layered two = layered({{40, 20}, {40, 20}, {100, 20}}, {{1, 2}, {0, 2}});
  CHECK(two.boxes[1].x < two.boxes[0].x);
  CHECK(two.edges[0].points.back().x < two.edges[1].points.back().x);
}

TEST_CASE("layered: in random graphs boxes do not overlap and edges lead down around them") {
  std::mt19937 random(1);
  for (int graph = 0; graph < 200; ++graph) {
    CAPTURE(graph);
    const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
    std::vector<LayeredBox> boxes;
    std::vector<LayeredEdge> edges;
    const size_t count = 1 + below(30);
    for (size_t i = 0; i < count; ++i) {
      boxes.push_back({20 + static_cast<double>(below(200)), 20 + static_cast<double>(below(80))});
      for (size_t k = 0; i > 0 && k < below(4); ++k) edges.push_back({below(i), i});
    }
    const Layered drawn = layered(boxes, edges);
    for (size_t i = 0; i < count; ++i) {
      const LayeredBox& box = drawn.boxes[i];
      CHECK(box.x >= 0);
      CHECK(box.y >= 0);
      CHECK(box.x + box.width <= drawn.width);
      CHECK(box.y + box.height <= drawn.height);
      for (size_t k = 0; k < i; ++k) CHECK_FALSE(overlap(box, drawn.boxes[k]));
    }
    for (const LayeredEdge& edge : drawn.edges) {
      const LayeredBox &from = drawn.boxes[edge.from], &to = drawn.boxes[edge.to];
      CHECK(edge.points.front().y == from.y + from.height);
      CHECK(edge.points.back().y == to.y);
      CHECK(edge.points.front().x > from.x);
      CHECK(edge.points.back().x < to.x + to.width);
      for (size_t p = 1; p < edge.points.size(); ++p) CHECK(edge.points[p].y >= edge.points[p - 1].y);
      for (const LayeredPoint& point : edge.points)
        for (const LayeredBox& box : drawn.boxes) CHECK_FALSE(inside(box, point));
    }
  }
}
