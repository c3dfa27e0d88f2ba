#include "tests/support/expect.h"

TEST_CASE("gather takes one element for each position") {
  const Tensor x = counted({2, 3});
  CHECK(values(gather(transpose(x), -1, tensor({{1}, {0}, {1}}, int64))) == Values{3, 1, 5});
  CHECK(gather(counted({3}), 0, tensor(2, int64)).item() == 2);
  CHECK(gather(x, 1, zeros({2, 0}, int64)).shape() == Shape{2, 0});
  CHECK_ERROR(gather(x, 1, tensor({{3}}, int64)),
              "gather: position 3 is out of range for dimension 1 of x [2, 3]: use 0 to 2");
  CHECK_ERROR_HAS(gather(x, 1, tensor({{-1}}, int64)), "position -1");
  CHECK_ERROR(gather(x, 1, tensor({1}, int64)),
              "gather: the index [1] must have the rank of x [2, 3] and be no larger outside of dimension 1");
  CHECK_ERROR_HAS(gather(x, 1, zeros({3, 1}, int64)), "no larger outside");
}

TEST_CASE("index_select takes slices") {
  const Tensor x = counted({3, 2, 10});
  const Tensor index = tensor({2, 0, 2}, int64);
  CHECK(values(index_select(transpose(x, 0, 2), -1, index)) ==
        values(transpose(index_select(x, 0, index), 0, 2)));
  CHECK(index_select(x, 1, zeros({0}, int64)).shape() == Shape{3, 0, 10});
  CHECK(index_select(x, 0, tensor(1, int64)).shape() == Shape{1, 2, 10});
  CHECK(index_select(tensor(4), 0, tensor({0}, int64)).shape() == Shape{});
  CHECK_ERROR(index_select(x, 0, tensor({3}, int64)),
              "index_select: position 3 is out of range for dimension 0 of x [3, 2, 10]: use 0 to 2");
  CHECK_ERROR_HAS(index_select(zeros({0, 9}), 0, tensor({0}, int64)), "position 0");
  CHECK_ERROR_HAS(index_select(x, 0, zeros({1, 1}, int64)), "must be a vector");
}

TEST_CASE("scatter_add sums elements with the same position") {
  const Tensor x = ones({2, 3});
  const Tensor src = tensor({{1, 2, 3}, {4, 5, 6}});
  CHECK(values(scatter_add(x, 1, tensor({{0, 0, 2}, {1, 1, 1}}, int64), src)) == Values{4, 1, 4, 1, 16, 1});
  CHECK(values(x) == Values(6, 1));
  CHECK(scatter_add(tensor(1), 0, tensor(0, int64), tensor(2)).item() == 3);
  CHECK_ERROR_HAS(scatter_add(x, 1, tensor({{3}}, int64), src), "scatter_add: position 3");
  CHECK_ERROR_HAS(scatter_add(x, 1, zeros({2, 4}, int64), src), "is larger than src");
  CHECK_ERROR_HAS(scatter_add(x, 1, zeros({1, 1}, int64), to(src, float64)), "one dtype");
}

TEST_CASE("scatter: the last of equal positions counts, and alone has the gradient") {
  const Tensor x = leaf({{1, 2, 3}, {4, 5, 6}}), src = leaf({{7, 8, 9}, {1, 1, 1}});
  const Tensor index = tensor({{0, 0, 2}}, int64);  // the second row of src is not used
  const Tensor y = scatter(x, 1, index, src);
  CHECK(values(y) == Values{8, 2, 9, 4, 5, 6});
  sum(y * (counted({2, 3}, float64) + 1)).backward();
  CHECK(values(x.grad()) == Values{0, 2, 0, 4, 5, 6});
  CHECK(values(src.grad()) == Values{0, 1, 3, 0, 0, 0});
  CHECK(values(scatter(zeros({2, 3}), 0, tensor({{1, 0}}, int64), 5)) == Values{0, 5, 0, 5, 0, 0});
  CHECK(values(scatter(zeros({3}, boolean), 0, tensor({2}, int64), true)) == Values{0, 0, 1});
  CHECK(scatter(tensor(1), 0, tensor(0, int64), 2.5).item() == 2.5);
  CHECK(values(scatter(x, 1, zeros({2, 0}, int64), zeros({2, 0}, float64))) == values(x));
  CHECK_ERROR_HAS(scatter(x, 1, tensor({{3}}, int64), 0), "scatter: position 3 is out of range");
  CHECK_ERROR_HAS(scatter(x, 1, zeros({1, 1}, int64), zeros({1, 1})), "they must have one dtype");
  CHECK_ERROR_HAS(scatter(zeros({2}, int64), 0, zeros({1}, int64), 0.5), "does not fit a int64 tensor");
}

TEST_CASE("index_add adds slices") {
  const Tensor x = ones({3, 2}), src = counted({3, 2});
  CHECK(values(index_add(x, 0, tensor({0, 2, 0}, int64), src, 2)) == Values{9, 13, 1, 1, 5, 7});
  CHECK(values(index_add(ones({2}, int64), -1, tensor({1}, int64), tensor({3}, int64))) == Values{1, 4});
  CHECK(index_add(tensor(1), 0, tensor({0}, int64), tensor(2)).item() == 3);
  CHECK_ERROR(
      index_add(x, 0, tensor({0, 2}, int64), src),
      "index_add: x is [3, 2], the index [2], src [3, 2]; the index must be a vector, and src [2, 2]");
  CHECK_ERROR_HAS(index_add(x, 0, tensor({0, 3, 0}, int64), src), "index_add: position 3 is out of range");
}

TEST_CASE("masked_select and nonzero, in row-major order") {
  const Tensor x = tensor({{0, kNaN}, {-0.0, 2}});
  CHECK(values(nonzero(x)) == Values{0, 1, 1, 1});
  CHECK(nonzero(tensor(3)).shape() == Shape{1, 0});
  CHECK(nonzero(tensor(0)).shape() == Shape{0, 0});
  CHECK(nonzero(zeros({0, 3})).shape() == Shape{0, 2});
  CHECK(values(nonzero(transpose(tensor({{0, 1}, {0, 0}}, boolean)))) == Values{1, 0});
  CHECK(values(masked_select(counted({3}), tensor({{1}, {0}, {1}}, boolean))) == Values{0, 1, 2, 0, 1, 2});
  CHECK(values(masked_select(tensor(3), tensor(true, boolean))) == Values{3});
  CHECK(masked_select(x, zeros({2, 2}, boolean)).shape() == Shape{0});
  CHECK_ERROR(masked_select(x, x),
              "masked_select: the mask is float32 [2, 2]; it must be bool, such as x > 0");
  CHECK_ERROR_HAS(masked_select(x, zeros({3}, boolean)), "do not broadcast");
}

TEST_CASE("repeat_interleave repeats slices, or elements") {
  const Tensor x = counted({2, 2});
  CHECK(values(repeat_interleave(x, 2)) == Values{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(values(repeat_interleave(x, tensor({0, 3}, int64), 0)) == Values{2, 3, 2, 3, 2, 3});
  CHECK(values(repeat_interleave(x, tensor({2}, int64), -1)) == Values{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(values(repeat_interleave(x, tensor({1, 0, 2, 1}, int64))) == Values{0, 2, 2, 3});
  CHECK(values(repeat_interleave(tensor(3), 2)) == Values{3, 3});
  CHECK(repeat_interleave(zeros({0, 2}), 3, 0).shape() == Shape{0, 2});
  CHECK(repeat_interleave(x, 0, 1).shape() == Shape{2, 0});
  CHECK_ERROR(
      repeat_interleave(x, tensor({1, 2, 3}, int64), 0),
      "repeat_interleave: repeats are int64 [3] and x is [2, 2]; give an int64 number, or one for each "
      "of the 2 slices along dimension 0");
  CHECK_ERROR_HAS(repeat_interleave(x, tensor({1, -2}, int64), 0), "repeats has -2; it must not be negative");
  CHECK_ERROR_HAS(repeat_interleave(x, 1.5), "does not fit a int64 tensor");
}

TEST_CASE("diag takes a diagonal, or makes a matrix of it") {
  const Tensor x = counted({3, 4});
  CHECK(values(diag(x)) == Values{0, 5, 10});
  CHECK(values(diag(x, -1)) == Values{4, 9});
  CHECK(values(diag(x, 2)) == Values{2, 7});
  CHECK(values(diag(transpose(x), 1)) == Values{4, 9});
  for (const int64_t outside : {int64_t{4}, int64_t{9}, int64_t{-3}, INT64_MIN, INT64_MAX})
    CHECK(diag(x, outside).shape() == Shape{0});
  CHECK(values(diag(tensor({1, 2}, int64), -1)) == Values{0, 0, 0, 1, 0, 0, 0, 2, 0});
  CHECK(values(diag(tensor({1, 1}, boolean))) == Values{1, 0, 0, 1});
  CHECK(diag(zeros({0}), 2).shape() == Shape{2, 2});
  CHECK(diag(zeros({0, 3})).shape() == Shape{0});
  CHECK_ERROR(diag(tensor(1)), "diag: x is []; it must be a vector or a matrix");
}

TEST_CASE("indexing with positions, slices, new axes and an ellipsis gives a view") {
  const Tensor x = counted({2, 3, 4});
  CHECK(values(x[-1]) == values(select(x, 0, 1)));
  CHECK(x[{0, 1, 2}].item() == 6);
  CHECK(values(x[{whole, 1, Slice(1, 3)}]) == Values{5, 6, 17, 18});
  CHECK(values(x[{ellipsis, -1}]) == Values{3, 7, 11, 15, 19, 23});
  CHECK(values(x[{0, ellipsis, 0}]) == Values{0, 4, 8});
  CHECK(values(x[{0, Slice(-2, {}), Slice({}, {}, 3)}]) == Values{4, 7, 8, 11});
  CHECK(x[{new_axis, ellipsis, new_axis}].shape() == Shape{1, 2, 3, 4, 1});
  CHECK(x[{0, new_axis}].shape() == Shape{1, 3, 4});
  CHECK(x[ellipsis].shape() == x.shape());
  CHECK(share_memory(x[{Slice(1, {}), 0}], x));
  CHECK_ERROR(x[2], "index: position 2 is out of range for dimension 0 of [2, 3, 4]");
  CHECK_ERROR((x[{ellipsis, ellipsis}]), "index: an index has one ellipsis at most");
  CHECK_ERROR_HAS(tensor(1)[0], "stand for 1 dimensions");
}

TEST_CASE("indexing with int64 tensors, which broadcast") {
  const Tensor x = counted({3, 4, 5});
  const Tensor i = tensor({2, -1, 0}, int64), j = tensor({{1}, {-4}}, int64);
  CHECK(x[{whole, j}].shape() == Shape{3, 2, 1, 5});
  CHECK(values(x[{whole, j}]) == values(stack({x[{whole, 1}], x[{whole, 0}]}, 1)));
  CHECK(x[{i, j}].shape() == Shape{2, 3, 5});
  CHECK(values(x[{i, j}][1]) == values(stack({x[{2, 0}], x[{2, 0}], x[{0, 0}]})));
  // If a slice separates the index tensors, their dimensions come first; otherwise they stay in place.
  CHECK(x[{i, whole, i}].shape() == Shape{3, 4});
  CHECK(values(x[{i, whole, tensor({4, 3, 2}, int64)}]) ==
        values(stack({x[{2, whole, 4}], x[{2, whole, 3}], x[{0, whole, 2}]})));
  CHECK(x[{whole, j, tensor({0, 1, 2}, int64)}].shape() == Shape{3, 2, 3});
  CHECK(values(transpose(x, 0, 2)[{whole, tensor({0, 3}, int64), tensor({1, 2}, int64)}]) ==
        values(stack({x[{1, 0}], x[{2, 3}]}, 1)));
  CHECK(x[{0, whole, i}].shape() == Shape{4, 3});
  CHECK(x[{i, new_axis, j}].shape() == Shape{2, 3, 1, 5});
  CHECK(x[{ellipsis, i}].shape() == Shape{3, 4, 3});
  CHECK(x[tensor(1, int64)].shape() == Shape{4, 5});  // a scalar is a position
  CHECK(x[zeros({0}, int64)].shape() == Shape{0, 4, 5});
  CHECK_ERROR(x[tensor({0, 3}, int64)], "index: position 3 is out of range for dimension 0 of [3, 4, 5]");
  CHECK_ERROR_HAS((x[{i, tensor({0, 1}, int64)}]), "do not broadcast");
  CHECK_ERROR_HAS(x[tensor({0.5})], "int64 positions or bools, and this is float32");
}

TEST_CASE("indexing with masks") {
  const Tensor x = counted({2, 3, 2});
  const Tensor rows = tensor({{true, false, true}, {false, true, false}}, boolean);
  CHECK(values(x[rows]) == Values{0, 1, 4, 5, 8, 9});
  CHECK(values(x[{0, tensor({false, true, true}, boolean)}]) == Values{2, 3, 4, 5});
  CHECK(values(x[x > 9]) == Values{10, 11});
  CHECK(x[zeros({2}, boolean)].shape() == Shape{0, 3, 2});
  CHECK(values(x[{rows, tensor({0, 1, 0}, int64)}]) == Values{0, 5, 8});
  CHECK(x[tensor(true, boolean)].shape() == Shape{1, 2, 3, 2});
  CHECK(x[tensor(false, boolean)].shape() == Shape{0, 2, 3, 2});
  CHECK(values(tensor(3)[tensor(true, boolean)]) == Values{3});
  CHECK_ERROR(x[zeros({3}, boolean)],
              "index: a mask of shape [3] at dimension 0 of [2, 3, 2] must have the sizes there");
}

TEST_CASE("embedding looks up rows; the padding row has no gradient") {
  const Tensor weight = counted({4, 9}).requires_grad_();
  const Tensor index = tensor({{1, 3}, {1, 0}}, int64);
  const Tensor y = embedding(weight, index, -1);
  CHECK(values(y[{0, 1}]) == values(weight[3]));
  sum(y).backward();
  CHECK(values(weight.grad()[{whole, 0}]) == Values{1, 2, 0, 0});
  // The padding row's gradient is zero by definition, so only the gradient's own derivative can be checked.
  const Tensor leaf = counted({4, 2}, float64).requires_grad_();
  CHECK(gradgradcheck([&](const auto& x) { return embedding(x[0], index, 2) * embedding(x[0], index, 2); },
                      {leaf}));
  CHECK(embedding(weight, tensor(2, int64)).shape() == Shape{9});
  CHECK(embedding(weight, zeros({0, 2}, int64)).shape() == Shape{0, 2, 9});
  CHECK_ERROR(embedding(weight, tensor({4}, int64)),
              "embedding: position 4 is out of range for dimension 0 of x [4, 9]: use 0 to 3");
  CHECK_ERROR_HAS(embedding(weight, index, 4), "padding_idx 4 is out of range");
  CHECK_ERROR_HAS(embedding(weight, zeros({1})), "positions must be int64");
  CHECK_ERROR_HAS(embedding(zeros({3}), index), "must be [N, E]");
}

TEST_CASE("one_hot: shapes, dtype and errors") {
  CHECK(one_hot(tensor({{2}}, int64)).shape() == Shape{1, 1, 3});
  CHECK(one_hot(tensor(0, int64), 2).dtype() == int64);
  CHECK(one_hot(zeros({0}, int64), 2).shape() == Shape{0, 2});
  CHECK_ERROR_HAS(one_hot(tensor({3}, int64), 3), "to 3 for num_classes = 3");
  CHECK_ERROR_HAS(one_hot(tensor({-1}, int64)), "reaches from -1");
  CHECK_ERROR_HAS(one_hot(zeros({0}, int64)), "does not tell");
}

TEST_CASE("sort is stable, and NaN is the largest") {
  const Tensor x = tensor({2, 1, NAN, 2, 0});
  CHECK(argsort(x).to_vector<int64_t>() == std::vector<int64_t>{4, 1, 0, 3, 2});
  CHECK(argsort(x, 0, true).to_vector<int64_t>() == std::vector<int64_t>{2, 0, 3, 1, 4});
  const auto [sorted, places] = sort(transpose(tensor({{3, 1}, {2, 4}})), 1);
  CHECK(values(sorted) == Values{2, 3, 1, 4});
  CHECK(places.to_vector<int64_t>() == std::vector<int64_t>{1, 0, 0, 1});
  CHECK(sort(tensor(3)).indices.item<int64_t>() == 0);
  CHECK(sort(zeros({2, 0})).values.shape() == Shape{2, 0});
  CHECK(values(sort(tensor({true, false}, boolean)).values) == Values{0, 1});
}

TEST_CASE("topk returns the largest elements in order") {
  const Tensor x = tensor({{1, 5, 3, 5}, {8, 6, 7, 0}});
  const auto [top, places] = topk(x, 3);
  CHECK(values(top) == Values{5, 5, 3, 8, 7, 6});
  CHECK(places.to_vector<int64_t>() == std::vector<int64_t>{1, 3, 2, 0, 2, 1});
  CHECK(topk(x, 0).values.shape() == Shape{2, 0});
  CHECK_ERROR(topk(x, 5), "topk: k is 5, and x [2, 4] has 4 elements along dimension 1");
}
