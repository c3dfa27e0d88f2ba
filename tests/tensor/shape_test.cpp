#include "tensor/shape.h"

#include "tests/support/expect.h"

static Shape counting_shape(int64_t rank) {
  Shape shape;
  for (int64_t i = 0; i < rank; ++i) shape.push_back(i + 1);
  return shape;
}

TEST_CASE("shapes can be copied, compared and resized") {
  static_assert(std::is_trivially_copyable_v<Shape>);
  for (const int64_t rank : {0, 1, 5, 7}) {
    const Shape shape = counting_shape(rank);
    CHECK(shape.dim() == rank);
    CHECK(shape.empty() == (rank == 0));
    for (const int64_t other_rank : {0, 3, 6, 8}) {
      Shape copied = counting_shape(other_rank);
      copied = shape;
      CHECK(copied == shape);
      CHECK((shape == counting_shape(other_rank)) == (rank == other_rank));
      copied.push_back(9);
      CHECK_FALSE(copied == shape);
    }
    Shape longer = shape;
    longer.resize(rank + 1);
    CHECK(longer.back() == 0);
    longer[rank] = 5;
    longer.resize(rank);
    CHECK(longer == shape);
    longer.resize(rank + 1);
    CHECK(longer.back() == 0);  // not the old size
  }
  CHECK(Shape({1, 2}) == Shape(std::vector<int64_t>{1, 2}));
  CHECK_FALSE(Shape({1, 2}) == Shape{1, 3});
  CHECK(Shape::filled(3, 7) == Shape{7, 7, 7});
}

TEST_CASE("more than eight dimensions throw") {
  const Shape most = counting_shape(8);
  const Tensor x = ones({1, 1, 1, 1, 1, 1, 1, 1});
  const std::vector<int64_t> nine(9, 1);
  const std::string text = "a shape of 9 dimensions; a tensor has at most 8";
  CHECK_ERROR_HAS(Shape({1, 1, 1, 1, 1, 1, 1, 1, 1}), text);
  CHECK_ERROR_HAS(Shape{nine}, text);
  CHECK_ERROR_HAS(Shape(most).push_back(1), text);
  CHECK_ERROR_HAS(Shape(most).insert(0, 1), text);
  CHECK_ERROR_HAS(Shape::filled(9, 1), text);
  CHECK_ERROR_HAS(unsqueeze(x, 0), text);
  CHECK_ERROR_HAS(stack({x, x}), text);
  CHECK_ERROR_HAS((x[{new_axis}]), text);
  CHECK_ERROR_HAS(reshape(x, nine), text);
  CHECK_ERROR_HAS(expand(x, nine), text);
  CHECK_ERROR_HAS(einsum("abcdefgh,i->abcdefghi", {x, ones({2})}), text);
  CHECK_ERROR_HAS(Shape(std::vector<int64_t>(1000, 1)), "1000 dimensions");
}

TEST_CASE("a copy may have another size, one more or one less") {
  const Shape shape{2, 3, 4};
  CHECK(shape.with(1, 9) == Shape{2, 9, 4});
  CHECK(shape.inserted(0, 9) == Shape{9, 2, 3, 4});
  CHECK(shape.inserted(3, 9) == Shape{2, 3, 4, 9});
  CHECK(shape.erased(1) == Shape{2, 4});
  CHECK(shape == Shape{2, 3, 4});
}

TEST_CASE("sizes can be inserted and erased") {
  Shape shape{1, 2, 3};
  shape.insert(0, 9);
  shape.insert(4, 8);
  shape.insert(2, 7);
  CHECK(shape == Shape{9, 1, 7, 2, 3, 8});
  shape.insert(6, 6);
  shape.erase(0);
  shape.erase(5);
  shape.erase(1);
  CHECK(shape == Shape{1, 2, 3, 8});
  CHECK(to_string(shape) == "[1, 2, 3, 8]");
  CHECK(to_string(Shape{}) == "[]");
}

TEST_CASE("numel throws for negative sizes and overflow") {
  CHECK(numel({}) == 1);
  CHECK(numel({2, 3, 4}) == 24);
  CHECK(numel({0}) == 0);
  const int64_t large = int64_t{1} << 40;
  CHECK(numel({large, large, 0}) == 0);
  CHECK(numel({0, large, large}) == 0);
  CHECK(numel({large, 1 << 22}) == int64_t{1} << 62);
  CHECK_ERROR(numel({large, 1 << 23}), "shape [1099511627776, 8388608]: too many elements");
  CHECK_ERROR_HAS(numel({large, large}), "too many elements");
  CHECK_ERROR(numel({2, -1, 0}), "shape [2, -1, 0]: a size is negative");
}

TEST_CASE("row-major strides") {
  CHECK(contiguous_strides({}) == Strides{});
  CHECK(contiguous_strides({5}) == Strides{1});
  CHECK(contiguous_strides({2, 3, 4}) == Strides{12, 4, 1});
  CHECK(contiguous_strides({2, 0, 4}) == Strides{4, 4, 1});
  CHECK(contiguous_strides(counting_shape(7)) == Strides{5040, 2520, 840, 210, 42, 7, 1});
}

TEST_CASE("broadcasting") {
  const struct {
    Shape a, b, both;
  } rows[] = {{{}, {}, {}},
              {{}, {2, 3}, {2, 3}},
              {{3}, {2, 3}, {2, 3}},
              {{2, 1}, {3}, {2, 3}},
              {{4, 1, 5}, {3, 1}, {4, 3, 5}},
              {{0}, {1}, {0}},
              {{2, 1}, {1, 0}, {2, 0}},
              {{1, 1, 1, 1, 1, 1, 1}, {2}, {1, 1, 1, 1, 1, 1, 2}}};
  for (const auto& row : rows) {
    CHECK(broadcast_shapes(row.a, row.b) == row.both);
    CHECK(broadcast_shapes(row.b, row.a) == row.both);
  }
  CHECK_ERROR(broadcast_shapes({2, 3}, {4, 2, 2}),
              "a is [2, 3], b is [4, 2, 2]: they do not broadcast; aligned at the right, sizes must be equal "
              "or 1, and 2 meets 3\n  a     [2, 3]\n  b  [4, 2, 2]\n            ^");
  CHECK_FALSE(message([] { broadcast_shapes({0}, {2}); }).empty());
}

TEST_CASE("dims count from the front or the back") {
  CHECK(check_dim(3, 0) == 0);
  CHECK(check_dim(3, 2) == 2);
  CHECK(check_dim(3, -1) == 2);
  CHECK(check_dim(3, -3) == 0);
  CHECK(check_dim(0, 0) == 0);
  CHECK(check_dim(0, -1) == 0);
  CHECK_ERROR(check_dim(3, 3), "dim 3 is out of range for a tensor of rank 3: use -3 to 2");
  CHECK_FALSE(message([] { check_dim(3, -4); }).empty());
  CHECK_FALSE(message([] { check_dim(0, 1); }).empty());

  CHECK(check_dims(3, {}) == Shape{0, 1, 2});
  CHECK(check_dims(3, {-1, 0}) == Shape{0, 2});
  CHECK(check_dims(0, {}) == Shape{});
  CHECK(check_dims(0, {-1}) == Shape{});
  CHECK_ERROR(check_dims(3, {2, -1}), "dims [2, -1] name the same dimension twice");

  CHECK(reduced_shape({2, 3, 4}, {0, 2}, false) == Shape{3});
  CHECK(reduced_shape({2, 3, 4}, {0, 2}, true) == Shape{1, 3, 1});
  CHECK(reduced_shape({2, 3}, {}, false) == Shape{2, 3});
}
