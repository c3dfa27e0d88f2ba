// What the rows of op_cases.cpp do not say: ranks, messages, gradients of every form.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "autograd/engine.h"
#include "autograd/gradcheck.h"
#include "autograd/ops.h"

using namespace heed;

namespace {

Tensor leaf(const Shape& shape) {
  static Generator generator(7);
  return randn(shape, float64, &generator).requires_grad_();
}

template <class F>
void check_gradients(const F& f, const std::vector<Tensor>& inputs) {
  const auto first = gradcheck(f, inputs);
  CHECK_MESSAGE(first, first.message);
  const auto second = gradgradcheck(f, inputs);
  CHECK_MESSAGE(second, second.message);
}

std::vector<double> values(const Tensor& x) { return x.to_vector(); }

}  // namespace

TEST_CASE("matmul: the rules of rank, and gradients of each") {
  const std::vector<std::array<Shape, 3>> cases = {
      {{{3}, {3}, {}}},
      {{{2, 3}, {3}, {2}}},
      {{{3}, {3, 4}, {4}}},
      {{{2, 3}, {3, 4}, {2, 4}}},
      {{{5, 2, 3}, {3}, {5, 2}}},
      {{{3}, {5, 3, 4}, {5, 4}}},
      {{{5, 2, 3}, {3, 4}, {5, 2, 4}}},
      {{{2, 3}, {5, 3, 4}, {5, 2, 4}}},
      {{{5, 2, 3}, {5, 3, 4}, {5, 2, 4}}},
      {{{2, 1, 2, 3}, {5, 3, 4}, {2, 5, 2, 4}}},
      {{{2, 0}, {0, 3}, {2, 3}}},
      {{{0, 2, 3}, {3, 4}, {0, 2, 4}}},
      {{{1, 1, 3}, {3, 1}, {1, 1, 1}}},
  };
  for (const auto& [a, b, y] : cases) {
    CAPTURE(a);
    CAPTURE(b);
    const std::vector<Tensor> in{leaf(a), leaf(b)};
    CHECK(matmul(in[0], in[1]).shape() == y);
    check_gradients([](const auto& x) { return matmul(x[0], x[1]); }, in);
  }
}

TEST_CASE("addmm: beta x + alpha a b") {
  const Tensor a = tensor({{1, 2}}), b = tensor({{3}, {4}});
  CHECK(addmm(tensor({{NAN}}), a, b, 0).item() == 11);
  CHECK(addmm(5, a, b).item() == 16);
  for (const Shape& x : {Shape{2, 1}, Shape{}})
    check_gradients([](const auto& in) { return addmm(in[0], in[1], in[2], 0.3, -2); },
                    {leaf(x), leaf({2, 3}), leaf({3, 4})});
}

TEST_CASE("linear: x W^T + b over any leading dimensions") {
  const Tensor w = tensor({{1, 2}, {3, 4}, {5, 6}}), b = tensor({10, 20, 30});
  CHECK(linear(tensor({1, -1}), w).shape() == Shape{3});
  CHECK(linear(zeros({4, 5, 2}), w, b).shape() == Shape{4, 5, 3});
  CHECK(values(linear(zeros({1, 0}), zeros({2, 0}), tensor({7, 8}))) == std::vector<double>{7, 8});
  CHECK(linear(zeros({0, 2}), w, b).shape() == Shape{0, 3});
}

TEST_CASE("products: bad operands are told apart") {
  const Tensor a = zeros({32, 784}), b = zeros({128, 784});
  CHECK_THROWS_WITH_AS(
      matmul(a, b),
      doctest::Contains(
          "matmul: inner sizes differ: a is [32, 784], b is [128, 784]; a's last size must equal "
          "b's second-to-last (transpose(b)?)"),
      Error);
  CHECK_THROWS_WITH_AS(matmul(a, zeros({3})), doctest::Contains("a's last size must equal b's only one"),
                       Error);
  CHECK_THROWS_WITH_AS(matmul(a, tensor(2)), doctest::Contains("a * b multiplies by a number"), Error);
  CHECK_THROWS_WITH_AS(matmul(a, 2), doctest::Contains("a * b multiplies by a number"), Error);
  CHECK_THROWS_WITH_AS(
      matmul(zeros({2, 3, 4}), zeros({3, 4, 5})),
      doctest::Contains("matmul: the batch of a is [2], the batch of b is [3]: they do not broadcast"),
      Error);
  CHECK_THROWS_WITH_AS(matmul(a, to(b, float64)), doctest::Contains("operands must have one dtype"), Error);
  CHECK_THROWS_WITH_AS(matmul(to(a, int64), to(b, int64)), doctest::Contains("convert with to(x, float32)"),
                       Error);
  CHECK_THROWS_WITH_AS(mm(zeros({3}), b), doctest::Contains("mm: a is [3]; it must have 2 dimensions"),
                       Error);
  CHECK_THROWS_WITH_AS(bmm(zeros({2, 3, 4}), zeros({3, 4, 5})),
                       doctest::Contains("first sizes must be equal"), Error);
  CHECK_THROWS_WITH_AS(dot(a, b), doctest::Contains("dot: a is [32, 784]; it must have 1 dimension"), Error);
  CHECK_THROWS_WITH_AS(addmm(zeros({7}), a, transpose(b)),
                       doctest::Contains("x is [7], the product is [32, 128]: they do not broadcast"), Error);
  CHECK_THROWS_WITH_AS(addmm(zeros({1, 32, 128}), a, transpose(b)),
                       doctest::Contains("x must broadcast to it"), Error);
  CHECK_THROWS_WITH_AS(linear(zeros({2, 5}), b), doctest::Contains("x's last size must be 784"), Error);
  CHECK_THROWS_WITH_AS(linear(a, b, zeros({784})), doctest::Contains("the bias must be [128]"), Error);
  CHECK_THROWS_WITH_AS(linear(tensor(1), b), doctest::Contains("x is a scalar"), Error);
  CHECK_THROWS_WITH_AS(matmul(Tensor(), b), doctest::Contains("undefined"), Error);
}

TEST_CASE("einsum: values") {
  const Tensor a = tensor({{1, 2}, {3, 4}}), b = tensor({{5, 6}, {7, 8}}), v = tensor({1, -1});
  CHECK(values(einsum("ij,jk->ik", {a, b})) == std::vector<double>{19, 22, 43, 50});
  CHECK(values(einsum("ij,jk", {a, b})) == std::vector<double>{19, 22, 43, 50});
  CHECK(values(einsum(" i j , j k -> k i ", {a, b})) == std::vector<double>{19, 43, 22, 50});
  CHECK(values(einsum("ij->ji", {a})) == std::vector<double>{1, 3, 2, 4});
  CHECK(values(einsum("ba", {a})) == std::vector<double>{1, 3, 2, 4});  // alphabetical result
  CHECK(values(einsum("aB", {a})) == std::vector<double>{1, 3, 2, 4});  // capitals first
  CHECK(values(einsum("ii->i", {a})) == std::vector<double>{1, 4});
  CHECK(values(einsum("ii", {a})) == std::vector<double>{5});
  CHECK(einsum("ij->", {a}).item() == 10);
  CHECK(values(einsum("ij->j", {a})) == std::vector<double>{4, 6});
  CHECK(values(einsum("i,j->ij", {v, v})) == std::vector<double>{1, -1, -1, 1});
  CHECK(einsum("i,i", {v, v}).item() == 2);
  CHECK(values(einsum("ij,ij->ij", {a, b})) == std::vector<double>{5, 12, 21, 32});
  CHECK(values(einsum("ij,ij->i", {a, b})) == std::vector<double>{17, 53});
  CHECK(values(einsum("ij,jk,k->i", {a, b, v})) == std::vector<double>{-3, -7});
  CHECK(values(einsum("i,ij,j->", {v, a, v})) == std::vector<double>{0});
  CHECK(values(einsum("...,...->...", {a, b})) == std::vector<double>{5, 12, 21, 32});
  CHECK(einsum("b...i,...ij->b...j", {zeros({2, 3, 4}), zeros({3, 4, 5})}).shape() == Shape{2, 3, 5});
  CHECK(einsum("...ij,...jk", {zeros({2, 1, 3, 4}), zeros({5, 4, 6})}).shape() == Shape{2, 5, 3, 6});
  CHECK(einsum("bhqd,bhkd->bhqk", {zeros({2, 3, 4, 5}), zeros({2, 3, 6, 5})}).shape() == Shape{2, 3, 4, 6});
  CHECK(values(einsum("...->", {a})) == std::vector<double>{10});  // what the result does not name is summed
  CHECK(values(einsum("ij,j->ij", {a, v})) == std::vector<double>{1, -2, 3, -4});
  CHECK(values(einsum("ij,jk->ik", {tensor({{1}, {2}}), b})) ==
        std::vector<double>{12, 14, 24, 28});  // 1 meets 2
  CHECK(values(einsum("iij->ij", {reshape(arange(0, 8), {2, 2, 2})})) == std::vector<double>{0, 1, 6, 7});
  CHECK(values(einsum("iji->j", {reshape(arange(0, 8), {2, 2, 2})})) == std::vector<double>{5, 9});
  CHECK(einsum("ij,jk->ik", {zeros({2, 0}), zeros({0, 3})}).shape() == Shape{2, 3});
  CHECK(einsum("i->i", {v}).same_as(v) == false);
}

TEST_CASE("einsum: gradients") {
  const auto check_einsum = [](const char* equation, const std::vector<Shape>& shapes) {
    CAPTURE(equation);
    std::vector<Tensor> in;
    for (const Shape& shape : shapes) in.push_back(leaf(shape));
    check_gradients([equation](const auto& x) { return einsum(equation, x); }, in);
  };
  check_einsum("ij,jk->ik", {{2, 3}, {3, 2}});
  check_einsum("ij,jk->ki", {{2, 3}, {3, 2}});
  check_einsum("bij,bkj->bik", {{2, 2, 3}, {2, 3, 3}});
  check_einsum("ii->i", {{3, 3}});
  check_einsum("iji,j", {{2, 3, 2}, {3}});
  check_einsum("i,j,k->kij", {{2}, {3}, {2}});
  check_einsum("...i,...ij", {{2, 3}, {3, 2}});
  check_einsum("ij,ik,il->jkl", {{2, 2}, {2, 3}, {2, 2}});
  check_einsum("ij->", {{2, 3}});
  check_einsum("ij,jk->ik", {{2, 1}, {3, 2}});
  check_einsum("i->i", {{3}});
}

TEST_CASE("einsum: bad equations are explained") {
  const Tensor a = zeros({2, 3});
  const auto message = [](const char* text) { return doctest::Contains(text); };
  CHECK_THROWS_WITH_AS(einsum("ij,jk", {a}), message("it names 2 operands, and there are 1"), Error);
  CHECK_THROWS_WITH_AS(einsum("ijk", {a}), message("operand 0 is [2, 3] and has 3 letters"), Error);
  CHECK_THROWS_WITH_AS(einsum("i", {a}), message("write ... for the dimensions without one"), Error);
  CHECK_THROWS_WITH_AS(einsum("i1", {a}), message("'1' at position 1 is not a letter"), Error);
  CHECK_THROWS_WITH_AS(einsum("i.j", {a}), message("'.' at position 1"), Error);
  CHECK_THROWS_WITH_AS(einsum("ij-i", {a}), message("'-' at position 2"), Error);
  CHECK_THROWS_WITH_AS(einsum("ij->i->j", {a}), message("two arrows"), Error);
  CHECK_THROWS_WITH_AS(einsum("ij->i,j", {a}), message("one result"), Error);
  CHECK_THROWS_WITH_AS(einsum("......", {a}), message("two ellipses"), Error);
  CHECK_THROWS_WITH_AS(einsum("ij->k", {a}), message("'k' in the result is in no operand"), Error);
  CHECK_THROWS_WITH_AS(einsum("ij->ii", {a}), message("'i' stands twice in the result"), Error);
  CHECK_THROWS_WITH_AS(einsum("ii", {a}), message("a diagonal needs equal sizes"), Error);
  CHECK_THROWS_WITH_AS(einsum("ij,jk", {a, a}), message("'j' is 3 in [2, 3] and 2 in [2, 3]"), Error);
  CHECK_THROWS_WITH_AS(einsum("...,...", {a, zeros({4})}), message("a dimension under ... is 3"), Error);
  CHECK_THROWS_WITH_AS(einsum("ij,jk", {a, zeros({3, 2}, float64)}), message("one dtype"), Error);
  CHECK_THROWS_WITH_AS(einsum("", {}), message("operands"), Error);
}

TEST_CASE("matmul: one value that stands for a whole batch, as the gradient of a sum does") {
  const Tensor ones_3d = expand(full({}, 1, float64), {3, 4, 5}), b = leaf({5, 2});
  CHECK(matmul(ones_3d, b).to_vector<double>() == matmul(clone(ones_3d), b).to_vector<double>());
  const Tensor x = leaf({3, 4, 5});
  sum(matmul(x, b)).backward();
  const auto got = x.grad().to_vector<double>(), want = sum(b, 1).to_vector<double>();
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(want[i % 5]));
}
