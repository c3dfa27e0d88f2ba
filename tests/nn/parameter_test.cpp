#include "nn/parameter.h"

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

#include "autograd/grad_mode.h"
#include "autograd/ops.h"
#include "tensor/create.h"

using namespace heed;

namespace {

Tensor values(const std::vector<float>& list) {
  return from_vector(list, {static_cast<int64_t>(list.size())});
}

std::vector<double> read(const Tensor& x) { return x.to_vector<double>(); }

}  // namespace

TEST_CASE("a parameter takes over values nobody else holds and copies others") {
  Tensor mine = values({1, 2});
  const float* memory = mine.data<float>();
  const Parameter copied(mine);
  CHECK(copied.data<float>() != memory);
  CHECK_FALSE(mine.requires_grad());
  const Parameter taken(std::move(mine));
  CHECK(taken.data<float>() == memory);
  CHECK(taken.requires_grad());
  CHECK(taken.is_leaf());
  CHECK_FALSE(Buffer(values({1})).requires_grad());
}

TEST_CASE("copying makes a new leaf, moving keeps identity") {
  Parameter a(values({1, 2}));
  const Tensor held = a;
  CHECK(held.same_as(a));
  const Parameter b = a;
  CHECK_FALSE(b.same_as(a));
  CHECK(b.requires_grad());
  CHECK(read(b) == std::vector<double>{1, 2});
  const Parameter c = std::move(a);
  CHECK(c.same_as(held));
  CHECK_FALSE(a.defined());  // NOLINT: what a moved-from parameter is, is the point
}

TEST_CASE("a copy of a frozen parameter is frozen, a growing vector keeps identities") {
  std::vector<Parameter> list;
  list.emplace_back(values({1}));
  const Tensor first = list[0];
  for (int i = 0; i < 20; ++i) list.emplace_back(values({2}));
  CHECK(list[0].same_as(first));
  list[0].requires_grad_(false);
  const Parameter copy = list[0];
  CHECK_FALSE(copy.requires_grad());
}

// Assigning to a Tensor would give the name to other values, so no parameter can be taken for one.
static_assert(!std::is_convertible_v<Parameter&, Tensor&> && !std::is_base_of_v<Tensor, Parameter>);
static_assert(std::is_convertible_v<Parameter&, const Tensor&> && std::is_convertible_v<Parameter&, Operand>);

TEST_CASE("assigning writes in place") {
  Parameter a(values({1, 2}));
  const Tensor held = a;
  a.set_grad(values({5, 5}));
  a = values({3, 4});
  CHECK(a.same_as(held));
  CHECK(read(held) == std::vector<double>{3, 4});
  CHECK(read(a.grad()) == std::vector<double>{5, 5});
  a = Parameter(values({6, 7}));
  CHECK(a.same_as(held));
  CHECK(read(held) == std::vector<double>{6, 7});
  const Parameter b(values({8, 9}));
  a = b;
  CHECK(a.same_as(held));
  CHECK(read(held) == std::vector<double>{8, 9});
  a = held.view_as({2}, {0}, 1);  // its own memory
  CHECK(read(held) == std::vector<double>{9, 9});
  auto& w = a;
  w = w * 2;
  CHECK(a.same_as(held));
  CHECK(a.is_leaf());
  CHECK(read(held) == std::vector<double>{18, 18});
  CHECK_THROWS_WITH_AS(
      (a = values({1, 2, 3})),
      "assignment to a parameter: it has shape [2] and the values [3]; values are written in place, so "
      "the shapes must be equal",
      Error);
}

TEST_CASE("a write is noticed by what was saved for the gradient") {
  Parameter a(values({1, 2}));
  const Tensor y = a * a;
  a = values({3, 4});
  CHECK_THROWS_AS(y.backward(values({1, 1})), Error);
}

TEST_CASE("a parameter may be assigned its own values in another order") {
  for (const Shape& order : {Shape{2, 0, 1}, Shape{1, 0, 2}, Shape{0, 2, 1}}) {
    const Tensor cube = reshape(arange(0, 1000), {10, 10, 10});
    Parameter a(clone(cube));
    a = permute(a, order);
    CHECK(read(a) == read(permute(cube, order)));
  }
}

TEST_CASE("absent parameters") {
  Parameter none;
  CHECK_FALSE(none.defined());
  const Parameter copy = none;
  CHECK_FALSE(copy.defined());
  none = values({1});
  CHECK(none.defined());
  CHECK(none.requires_grad());
  none = Parameter();
  CHECK_FALSE(none.defined());
  Buffer buffer;
  buffer = values({1});
  CHECK_FALSE(buffer.requires_grad());
  Parameter a(values({1})), b(values({2}));
  const Tensor at_a = a, at_b = b;
  std::swap(a, b);
  CHECK(a.same_as(at_b));
  CHECK(b.same_as(at_a));
}

TEST_CASE("to_ changes this very tensor and its gradient") {
  Parameter a(values({0.5f, 2}));
  const Tensor held = a;
  const Tensor y = a * a;
  a.set_grad(values({1, 3}));
  a.to_(float64);
  CHECK(held.dtype() == float64);
  CHECK(held.grad().dtype() == float64);
  CHECK(read(held) == std::vector<double>{0.5, 2});
  CHECK(read(held.grad()) == std::vector<double>{1, 3});
  CHECK_THROWS_AS(y.backward(values({1, 1})), Error);
  CHECK_THROWS_WITH_AS(
      a.to_(int64),
      "to: a float64 member of a module cannot become int64; only floating ones change, to float32 or "
      "float64",
      Error);
}
