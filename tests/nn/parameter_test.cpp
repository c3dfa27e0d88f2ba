#include "nn/parameter.h"

#include "tests/support/expect.h"

TEST_CASE("a parameter moves unshared values and copies shared ones") {
  Tensor mine = tensor({1, 2});
  const float* memory = mine.data<float>();
  const Parameter copied(mine);
  CHECK(copied.data<float>() != memory);
  CHECK_FALSE(mine.requires_grad());
  const Parameter taken(std::move(mine));
  CHECK(taken.data<float>() == memory);
  CHECK(taken.requires_grad());
  CHECK(taken.is_leaf());
  CHECK_FALSE(Buffer(tensor({1})).requires_grad());
}

TEST_CASE("copying makes a new leaf, moving keeps identity") {
  Parameter a(tensor({1, 2}));
  const Tensor held = a;
  CHECK(held.same_as(a));
  const Parameter b = a;
  CHECK_FALSE(b.same_as(a));
  CHECK(b.requires_grad());
  CHECK(values(b) == Values{1, 2});
  const Parameter c = std::move(a);
  CHECK(c.same_as(held));
  CHECK_FALSE(a.defined());  // NOLINT: tests the moved-from parameter
}

TEST_CASE("a copy of a frozen parameter is frozen, a growing vector keeps identities") {
  std::vector<Parameter> list;
  list.emplace_back(tensor({1}));
  const Tensor first = list[0];
  for (int i = 0; i < 20; ++i) list.emplace_back(tensor({2}));
  CHECK(list[0].same_as(first));
  list[0].requires_grad_(false);
  const Parameter copy = list[0];
  CHECK_FALSE(copy.requires_grad());
}

// Assigning to a Tensor replaces the handle, so a parameter does not convert to Tensor&.
static_assert(!std::is_convertible_v<Parameter&, Tensor&> && !std::is_base_of_v<Tensor, Parameter>);
static_assert(std::is_convertible_v<Parameter&, const Tensor&> && std::is_convertible_v<Parameter&, Operand>);

TEST_CASE("assigning writes in place") {
  Parameter a(tensor({1, 2}));
  const Tensor held = a;
  a.set_grad(tensor({5, 5}));
  a = tensor({3, 4});
  CHECK(a.same_as(held));
  CHECK(values(held) == Values{3, 4});
  CHECK(values(a.grad()) == Values{5, 5});
  a = Parameter(tensor({6, 7}));
  CHECK(a.same_as(held));
  CHECK(values(held) == Values{6, 7});
  const Parameter b(tensor({8, 9}));
  a = b;
  CHECK(a.same_as(held));
  CHECK(values(held) == Values{8, 9});
  a = TensorImpl::view(held, {2}, {0}, 1);  // its own memory
  CHECK(values(held) == Values{9, 9});
  auto& w = a;
  w = w * 2;
  CHECK(a.same_as(held));
  CHECK(a.is_leaf());
  CHECK(values(held) == Values{18, 18});
  CHECK_ERROR((a = tensor({1, 2, 3})),
              "assignment to a parameter: it has shape [2] and the values [3]; values are written in place, "
              "so the shapes must be equal");
}

TEST_CASE("a gradient rule that saved a parameter throws after an assignment") {
  Parameter a(tensor({1, 2}));
  const Tensor y = a * a;
  a = tensor({3, 4});
  CHECK_THROWS_AS(y.backward(tensor({1, 1})), Error);
}

TEST_CASE("a parameter may be assigned its own values in another order") {
  for (const Shape& order : {Shape{2, 0, 1}, Shape{1, 0, 2}, Shape{0, 2, 1}}) {
    const Tensor cube = reshape(arange(0, 1000), {10, 10, 10});
    Parameter a(clone(cube));
    a = permute(a, order);
    CHECK(values(a) == values(permute(cube, order)));
  }
}

TEST_CASE("undefined parameters can be copied, assigned and swapped") {
  Parameter none;
  CHECK_FALSE(none.defined());
  const Parameter copy = none;
  CHECK_FALSE(copy.defined());
  none = tensor({1});
  CHECK(none.defined());
  CHECK(none.requires_grad());
  none = Parameter();
  CHECK_FALSE(none.defined());
  Buffer buffer;
  buffer = tensor({1});
  CHECK_FALSE(buffer.requires_grad());
  Parameter a(tensor({1})), b(tensor({2}));
  const Tensor at_a = a, at_b = b;
  std::swap(a, b);
  CHECK(a.same_as(at_b));
  CHECK(b.same_as(at_a));
}
