// Covers what the rows of op_cases.cpp do not: ranks, messages, gradients of every form.

#include "tensor/kernels/matmul.h"
#include "tests/support/expect.h"

TEST_CASE("matmul: result shapes for every rank") {
  const std::array<Shape, 3> cases[] = {{{{3}, {3}, {}}},
                                        {{{2, 3}, {3}, {2}}},
                                        {{{3}, {3, 4}, {4}}},
                                        {{{5, 2, 3}, {3}, {5, 2}}},
                                        {{{3}, {5, 3, 4}, {5, 4}}},
                                        {{{5, 2, 3}, {3, 4}, {5, 2, 4}}},
                                        {{{2, 3}, {5, 3, 4}, {5, 2, 4}}},
                                        {{{2, 1, 2, 3}, {5, 3, 4}, {2, 5, 2, 4}}},
                                        {{{2, 0}, {0, 3}, {2, 3}}},
                                        {{{0, 2, 3}, {3, 4}, {0, 2, 4}}},
                                        {{{1, 1, 3}, {3, 1}, {1, 1, 1}}}};
  for (const auto& [a, b, y] : cases) {
    INFO(to_string(a), " times ", to_string(b));
    CHECK(matmul(zeros(a), zeros(b)).shape() == y);
  }
}

TEST_CASE("addmm: beta x + alpha a b; linear: x W^T + b over any leading dimensions") {
  const Tensor row = tensor({{1, 2}}), column = tensor({{3}, {4}});
  CHECK(addmm(tensor({{NAN}}), row, column, 0).item() == 11);
  CHECK(addmm(5, row, column).item() == 16);
  const Tensor w = tensor({{1, 2}, {3, 4}, {5, 6}}), b = tensor({10, 20, 30});
  CHECK(linear(tensor({1, -1}), w).shape() == Shape{3});
  CHECK(linear(zeros({4, 5, 2}), w, b).shape() == Shape{4, 5, 3});
  CHECK(values(linear(zeros({1, 0}), zeros({2, 0}), tensor({7, 8}))) == Values{7, 8});
  CHECK(linear(zeros({0, 2}), w, b).shape() == Shape{0, 3});
}

TEST_CASE("products: each invalid operand has its own message") {
  const Tensor a = zeros({32, 784}), b = zeros({128, 784});
  CHECK_ERROR_HAS(matmul(a, zeros({3})), "a's last size must equal b's only one");
  CHECK_ERROR_HAS(matmul(a, 2), "a * b multiplies by a number");
  CHECK_ERROR_HAS(matmul(zeros({2, 3, 4}), zeros({3, 4, 5})),
                  "matmul: the batch of a is [2], the batch of b is [3]: they do not broadcast");
  CHECK_ERROR_HAS(matmul(a, to(b, float64)), "operands must have one dtype");
  CHECK_ERROR_HAS(mm(zeros({3}), b), "mm: a is [3]; it must have 2 dimensions");
  CHECK_ERROR_HAS(bmm(zeros({2, 3, 4}), zeros({3, 4, 5})), "first sizes must be equal");
  CHECK_ERROR_HAS(dot(a, b), "dot: a is [32, 784]; it must have 1 dimension");
  CHECK_ERROR_HAS(addmm(zeros({7}), a, transpose(b)),
                  "x is [7], the product is [32, 128]: they do not broadcast");
  CHECK_ERROR_HAS(addmm(zeros({1, 32, 128}), a, transpose(b)), "x must broadcast to it");
  CHECK_ERROR_HAS(linear(zeros({2, 5}), b), "x's last size must be 784");
  CHECK_ERROR_HAS(linear(a, b, zeros({784})), "the bias must be [128]");
  CHECK_ERROR_HAS(linear(tensor(1), b), "x is a scalar");
  CHECK_ERROR_HAS(matmul(Tensor(), b), "undefined");
}

TEST_CASE("einsum: values") {
  const Tensor a = tensor({{1, 2}, {3, 4}}), b = tensor({{5, 6}, {7, 8}}), v = tensor({1, -1});
  CHECK(values(einsum("ij,jk", {a, b})) == Values{19, 22, 43, 50});
  CHECK(values(einsum(" i j , j k -> k i ", {a, b})) == Values{19, 43, 22, 50});
  CHECK(values(einsum("ba", {a})) == Values{1, 3, 2, 4});  // alphabetical result
  CHECK(values(einsum("aB", {a})) == Values{1, 3, 2, 4});  // capitals first
  CHECK(values(einsum("ii->i", {a})) == Values{1, 4});
  CHECK(values(einsum("ii", {a})) == Values{5});
  CHECK(values(einsum("ij->j", {a})) == Values{4, 6});
  CHECK(values(einsum("i,j->ij", {v, v})) == Values{1, -1, -1, 1});
  CHECK(values(einsum("ij,ij->i", {a, b})) == Values{17, 53});
  CHECK(values(einsum("ij,ij->ij", {tensor({{1, 2}}, int64), tensor({{3}, {4}}, int64)})) ==
        Values{3, 6, 4, 8});
  CHECK(values(einsum("ij,jk,k->i", {a, b, v})) == Values{-3, -7});
  CHECK(values(einsum("i,ij,j->", {v, a, v})) == Values{0});
  CHECK(values(einsum("...,...->...", {a, b})) == Values{5, 12, 21, 32});
  CHECK(einsum("b...i,...ij->b...j", {zeros({2, 3, 4}), zeros({3, 4, 5})}).shape() == Shape{2, 3, 5});
  CHECK(einsum("...ij,...jk", {zeros({2, 1, 3, 4}), zeros({5, 4, 6})}).shape() == Shape{2, 5, 3, 6});
  CHECK(values(einsum("...->", {a})) == Values{10});  // dimensions that the result does not name are summed
  CHECK(values(einsum("ij,j->ij", {a, v})) == Values{1, -2, 3, -4});
  CHECK(values(einsum("ij,jk->ik", {tensor({{1}, {2}}), b})) ==
        Values{12, 14, 24, 28});  // sizes 1 and 2 broadcast
  CHECK(values(einsum("iij->ij", {reshape(arange(0, 8), {2, 2, 2})})) == Values{0, 1, 6, 7});
  CHECK(values(einsum("iji->j", {reshape(arange(0, 8), {2, 2, 2})})) == Values{5, 9});
  CHECK(einsum("ij,jk->ik", {zeros({2, 0}), zeros({0, 3})}).shape() == Shape{2, 3});
  CHECK(einsum("i->i", {v}).same_as(v) == false);
}

TEST_CASE("einsum: invalid equations throw") {
  const Tensor a = zeros({2, 3});
  CHECK_ERROR_HAS(einsum("ij,jk", {a}), "it names 2 operands, and there are 1");
  CHECK_ERROR_HAS(einsum("ijk", {a}), "operand 0 is [2, 3] and has 3 letters");
  CHECK_ERROR_HAS(einsum("i", {a}), "write ... for the dimensions without one");
  CHECK_ERROR_HAS(einsum("i1", {a}), "'1' at position 1 is not a letter");
  CHECK_ERROR_HAS(einsum("i.j", {a}), "'.' at position 1");
  CHECK_ERROR_HAS(einsum("ij-i", {a}), "'-' at position 2");
  CHECK_ERROR_HAS(einsum("ij->i->j", {a}), "two arrows");
  CHECK_ERROR_HAS(einsum("ij->i,j", {a}), "one result");
  CHECK_ERROR_HAS(einsum("......", {a}), "two ellipses");
  CHECK_ERROR_HAS(einsum("ij->k", {a}), "'k' in the result is in no operand");
  CHECK_ERROR_HAS(einsum("ij->ii", {a}), "'i' appears twice in the result");
  CHECK_ERROR_HAS(einsum("ii", {a}), "a diagonal needs equal sizes");
  CHECK_ERROR_HAS(einsum("...,...", {a, zeros({4})}), "a dimension under ... is 3");
  CHECK_ERROR_HAS(einsum("ij,jk", {a, zeros({3, 2}, float64)}), "one dtype");
  CHECK_ERROR_HAS(einsum("", {}), "operands");
}

TEST_CASE("matmul: operands expanded with stride 0") {
  const Tensor ones_3d = expand(full({}, 1, float64), {3, 4, 5}), b = randn({5, 2}, float64);
  CHECK(values(matmul(ones_3d, b)) == values(matmul(clone(ones_3d), b)));
  const Tensor x = randn({3, 4, 5}, float64).requires_grad_();
  sum(matmul(x, b)).backward();
  CHECK(largest_difference(x.grad(), expand(sum(b, 1), {3, 4, 5})) < 1e-12);
}
