
#include "tests/support/expect.h"

TEST_CASE("views share memory") {
  const Tensor x = counted({2, 3});
  for (const Tensor& y : {transpose(x), t(x), permute(x, {-1, 0}), select(x, 1, -1), narrow(x, 1, -2, 2),
                          unsqueeze(x, -1), squeeze(x), slice(x, 1, 1, 3, 2), alias(x)})
    CHECK(share_memory(y, x));
  CHECK_FALSE(share_memory(clone(x), x));
  CHECK(values(permute(counted({2, 1, 3}), {-1, 0, 1})) == Values{0, 3, 1, 4, 2, 5});
  CHECK(values(t(x)) == values(transpose(x)));
  CHECK(t(select(x, 0, 0)).shape() == Shape{3});
  CHECK(permute(tensor(1), {}).shape() == Shape{});
  CHECK(transpose(tensor(5), 0, -1).item() == 5);
  CHECK(values(narrow(x, 1, -2, 2)) == Values{1, 2, 4, 5});
  CHECK(narrow(x, 0, 2, 0).shape() == Shape{0, 3});
}

TEST_CASE("slices use Python's bounds") {
  const Tensor x = counted({6});
  CHECK(values(slice(x, 0, 1, 5, 2)) == Values{1, 3});
  CHECK(values(slice(x, 0, -2, 100)) == Values{4, 5});
  CHECK(values(slice(x, 0, -100, 2)) == Values{0, 1});
  CHECK(slice(x, 0, 4, 2).shape() == Shape{0});
  CHECK(values(slice(x, 0, 0, 6, int64_t{1} << 62)) == Values{0});
  for (const int step : {0, -1})
    CHECK_ERROR(slice(x, 0, 0, 6, step), "slice: step " + std::to_string(step) + " is not positive");
}

TEST_CASE("reshape copies only if the strides do not allow a view") {
  const Tensor x = counted({4, 6});
  CHECK(share_memory(reshape(x, {2, 2, 3, 2}), x));
  CHECK(share_memory(reshape(narrow(x, 0, 1, 2), {-1}), x));
  CHECK(share_memory(reshape(narrow(x, 1, 0, 4), {4, 2, 2}),
                     x));  // splits a dimension that is followed by a gap
  CHECK(share_memory(reshape(slice(x, 1, 0, 6, 2), {2, 2, 3}), x));
  CHECK(share_memory(reshape(transpose(x), {3, 2, 4}), x));
  CHECK_FALSE(share_memory(reshape(transpose(x), {24}), x));
  for (const Shape& shape : {Shape{3, 2, 4}, Shape{24}})
    CHECK(values(reshape(transpose(x), shape)) == values(transpose(x)));
  CHECK(values(reshape(expand(tensor({{1}, {2}}), {2, 3}), {6})) == Values{1, 1, 1, 2, 2, 2});
  CHECK(reshape(zeros({0, 3}), {3, 0, 2}).shape() == Shape{3, 0, 2});
  CHECK(reshape(tensor(2), {1, 1}).shape() == Shape{1, 1});
  CHECK(reshape(zeros({2, 0}), {2, -1}).shape() == Shape{2, 0});
  CHECK(values(view(transpose(x, 0, 1), {6, 2, 2})) == values(transpose(x)));
}

TEST_CASE("reshape and view: errors name the shapes") {
  const Tensor x = counted({4, 6});
  CHECK_ERROR(reshape(x, {-1, 5}),
              "reshape: x is [4, 6] with 24 elements, and no size in place of -1 makes [-1, 5] hold as many");
  CHECK_ERROR(reshape(x, {-2, -12}), "reshape: shape [-2, -12]: a size is negative");
  CHECK_ERROR_HAS(reshape(zeros({0}), {-1, 0}), "no size in place of -1");
  CHECK_ERROR(
      view(transpose(x), {24}),
      "view: x of shape [6, 4] and strides [1, 6] cannot be seen as [24] without a copy; use reshape");
}

TEST_CASE("expand repeats with stride 0") {
  const Tensor x = tensor({{1}, {2}});
  const Tensor y = expand(x, {3, -1, 2});
  CHECK(y.shape() == Shape{3, 2, 2});
  CHECK(share_memory(y, x));
  CHECK(values(y) == Values{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2});
  CHECK(expand(tensor(1), {0, 2}).numel() == 0);
  CHECK(broadcast_to(x, {2, 4}).shape() == Shape{2, 4});
  CHECK_ERROR_HAS(expand(x, {-1, 2, 1}), "-1 keeps only a size that is there");
  CHECK_ERROR_HAS(expand(x, {2}), "fewer dimensions");
  CHECK_ERROR_HAS(expand(tensor(1), {int64_t{1} << 40, int64_t{1} << 40}), "too many elements");
}

TEST_CASE("flatten joins a range of dimensions") {
  const Tensor x = counted({2, 3, 4});
  CHECK(flatten(x, 0, -2).shape() == Shape{6, 4});
  CHECK(flatten(tensor(1)).shape() == Shape{1});
  CHECK_ERROR_HAS(flatten(x, 2, 1), "start_dim 2 comes after end_dim 1");
}

TEST_CASE("views: invalid dimensions and positions throw") {
  const Tensor x = counted({2, 3});
  CHECK_ERROR_HAS(permute(x, {0}), "name each of its 2 dimensions once");
  CHECK_ERROR(select(x, 1, 3), "select: index 3 is out of range for dimension 1 of x [2, 3]");
  CHECK_ERROR_HAS(select(tensor(1), 0, 0), "is a scalar");
  CHECK_ERROR(narrow(x, 1, 2, 2), "narrow: start 2 and length 2 do not lie in dimension 1 of x [2, 3]");
  CHECK_ERROR_HAS(narrow(x, 1, 1, INT64_MAX), "do not lie");
  CHECK_ERROR_HAS(t(zeros({2, 2, 2})), "only matrices");
  CHECK(message([&] { unsqueeze(x, 4); }).find("unsqueeze: dim 4") == 0);
}

TEST_CASE("to converts, and its gradient has the original dtype") {
  const Tensor x = tensor({1.5, -2.5, 0});
  CHECK(values(to(x, int64)) == Values{1, -2, 0});
  CHECK(values(to(x, boolean)) == Values{1, 1, 0});
  CHECK(to(x, float32).same_as(x));
  x.requires_grad_();
  sum(to(x, float64) * 2).backward();
  CHECK(x.grad().dtype() == float32);
  CHECK(values(x.grad()) == Values{2, 2, 2});
  CHECK_FALSE(to(x, int64).requires_grad());
}

TEST_CASE("cat, stack, split and chunk") {
  const Tensor a = counted({2, 2});
  CHECK(values(cat({a, transpose(a)}, -2)) == Values{0, 1, 2, 3, 0, 2, 1, 3});
  CHECK(cat({zeros({0}), a, zeros({0, 2})}).shape() == Shape{2, 2});
  CHECK(cat({arange(0, 2, 1, int64), arange(5, 6, 1, int64)}).to_vector<int64_t>() ==
        std::vector<int64_t>{0, 1, 5});
  CHECK(values(stack({tensor(1), tensor(2)}, -1)) == Values{1, 2});

  const Tensors parts = split(counted({5, 2}), 2);
  REQUIRE(parts.size() == 3);
  CHECK(share_memory(parts[0], parts[1]));
  CHECK(chunk(counted({5}), 4).size() == 3);  // of size 2, as in PyTorch
  CHECK(chunk(zeros({2, 0}), 3, 1).size() == 3);
  CHECK(split(zeros({0}), 2).size() == 1);
}

TEST_CASE("cat, stack, split and chunk: invalid arguments throw") {
  CHECK_ERROR(cat({zeros({2, 2}), zeros({2, 3})}),
              "cat: shapes [2, 2] and [2, 3] differ outside of dimension 0");
  CHECK_ERROR_HAS(cat({zeros({2, 2}), zeros({2})}), "differ outside");
  CHECK_ERROR_HAS(cat({tensor(1)}), "is a scalar");
  CHECK_ERROR_HAS(cat({zeros({1}), zeros({1}, float64)}), "float32 and float64");
  CHECK_ERROR(stack({zeros({1}), zeros({2})}), "stack: shapes [1] and [2] differ");
  CHECK_ERROR_HAS(split(zeros({3}), 0), "must be positive");
  CHECK_ERROR_HAS(chunk(zeros({3}), 0), "at least one");
}

TEST_CASE("cat splits its gradient among the inputs") {
  const Tensor a = counted({2, 2}).requires_grad_(), b = zeros({1, 2});
  sum(cat({a, b, a}) * counted({5, 2})).backward();
  CHECK(values(a.grad()) == Values{6, 8, 10, 12});
  CHECK_FALSE(b.requires_grad());
}

TEST_CASE("flip, repeat, tril, triu") {
  const Tensor x = counted({2, 3});
  CHECK(values(flip(transpose(x), {0, -1})) == Values{5, 2, 4, 1, 3, 0});
  CHECK(repeat(tensor({1, 2}), {0}).shape() == Shape{0});
  CHECK(repeat(tensor(3), {2, 1}).shape() == Shape{2, 1});
  const Tensor eight = reshape(x, {1, 1, 2, 1, 1, 1, 1, 3});
  CHECK(values(repeat(eight, {2, 1, 1, 1, 1, 1, 1, 2})) == values(repeat(x, {2, 2})));
  CHECK_FALSE(share_memory(repeat(x, {1, 1}), x));
  CHECK_ERROR_HAS(repeat(x, {2}), "give one for each dimension");
  CHECK_ERROR_HAS(repeat(x, {1, -1}), "is negative");
  const Tensor square = ones({3, 3}) / 0;  // infinite: masked elements must not become NaN
  CHECK(values(tril(square) == 0) == Values{0, 1, 1, 0, 0, 1, 0, 0, 0});
  CHECK(values(tril(x, -1)) == Values{0, 0, 0, 3, 0, 0});
  CHECK_ERROR_HAS(tril(zeros({3})), "must be a matrix");
  CHECK(values(tril(x, INT64_MAX)) == values(x));  // diagonals far outside the matrix
  CHECK(values(triu(x, INT64_MIN)) == values(x));
  CHECK(values(tril(x, INT64_MIN)) == Values(6, 0));
  CHECK(values(triu(x, INT64_MAX)) == Values(6, 0));
}

TEST_CASE("pad adds and removes elements, last dimension first") {
  const Tensor x = counted({2, 2});
  CHECK(values(pad(x, {1, 0}, 7)) == Values{7, 0, 1, 7, 2, 3});
  CHECK(values(pad(x, {-1, 1, 0, 1}, 7)) == Values{1, 7, 3, 7, 7, 7});
  CHECK(values(pad(x, {-2, 1})) == Values{0, 0});
  CHECK(values(pad(x, {3, -4})) == Values{0, 0});
  CHECK(pad(x, {}).shape() == Shape{2, 2});
  const Tensor eight = reshape(x, {2, 1, 1, 1, 1, 1, 1, 2});
  CHECK(values(pad(eight, {-1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 7)) == Values{1, 7, 3, 7, 7, 7});
  CHECK_ERROR_HAS(pad(x, {1}), "two for each dimension");
  CHECK_ERROR_HAS(pad(x, {-3, 0}), "no size may become negative");
  CHECK_ERROR_HAS(pad(x, {INT64_MAX, INT64_MAX}), "no size may become negative");
}

TEST_CASE("roll moves elements around the end") {
  const Tensor x = counted({2, 3});
  CHECK(values(roll(x, 1)) == Values{5, 0, 1, 2, 3, 4});
  CHECK(values(roll(x, {1, -1}, {0, 1})) == Values{4, 5, 3, 1, 2, 0});
  CHECK(values(roll(x, {1, 1}, {1, 1})) == Values{1, 2, 0, 4, 5, 3});  // one after another
  CHECK(values(roll(x, -10000, -1)) == Values{1, 2, 0, 4, 5, 3});
  CHECK(values(roll(x, INT64_MIN)) == values(roll(x, 4)));
  CHECK(roll(tensor(3), 2).item() == 3);
  CHECK(roll(zeros({0, 2}), 1, 0).shape() == Shape{0, 2});
  CHECK_FALSE(share_memory(roll(x, 0), x));
  CHECK_ERROR(roll(x, {1, 2}),
              "roll: shifts are [1, 2] and dims are []; give one shift for each dim, or one shift alone");
  CHECK_ERROR_HAS(roll(x, 1, 2), "roll: dim 2 is out of range");
}

TEST_CASE("meshgrid: coordinates of a grid, as views") {
  const Tensor a = tensor({1, 2}), b = tensor({3, 4, 5});
  const Tensors ij = meshgrid({a, b}), xy = meshgrid({a, b}, GridIndexing::xy);
  CHECK(values(ij[0]) == Values{1, 1, 1, 2, 2, 2});
  CHECK(values(ij[1]) == Values{3, 4, 5, 3, 4, 5});
  CHECK(xy[0].shape() == Shape{3, 2});
  CHECK(values(xy[0]) == Values{1, 2, 1, 2, 1, 2});
  CHECK(values(xy[1]) == Values{3, 3, 4, 4, 5, 5});
  CHECK(share_memory(ij[0], a));
  CHECK(meshgrid({tensor(1), b})[0].shape() == Shape{1, 3});
  CHECK(meshgrid({a}, GridIndexing::xy)[0].shape() == Shape{2});
  CHECK(meshgrid({}).empty());
  CHECK_ERROR(meshgrid({a, counted({2, 2})}),
              "meshgrid: a tensor is float32 [2, 2]; all must be vectors of one dtype");
}
