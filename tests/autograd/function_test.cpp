#include "autograd/function.h"

#include "tests/support/compile.h"
#include "tests/support/expect.h"

TEST_CASE("a custom operation in six lines") {
  const Tensor x = leaf({1, 2});

  const auto cube = function(
      "cube", [](const Tensor& v) { return v * v * v; },
      [](const Tensor& g, const Tensor& v) { return g * 3 * v * v; });
  const Tensor y = cube(x);

  CHECK(values(y) == Values{1, 8});
  const int line = __LINE__ - 3;
  CHECK(std::string(Node::of(y)->name) == "cube");
  CHECK(Node::of(y)->line.line() == line);
  const auto f = [&](const Tensors& in) { return cube(in[0]); };
  CHECK(gradcheck(f, {x}));
  CHECK(gradgradcheck(f, {x}));
  CHECK_FALSE(cube(x.detach()).requires_grad());
  sum(cube(cube(x))).backward();  // x^9
  CHECK(values(x.grad()) == Values{9, 9 * 256});
}

TEST_CASE("several inputs; gradients as a vector or an array; an undefined gradient is zero") {
  const auto lists = function(
      "lists", [](const Tensor& a, const Tensor& b, const Tensor&) { return a * b; },
      [](const Tensor& g, const Tensor& a, const Tensor& b, const Tensor&) {
        return Tensors{g * b, g * a, Tensor()};
      });
  const auto arrays = function(
      "arrays", [](const Tensor& a, const Tensor& b) { return a * b; },
      [](const Tensor& g, const Tensor& a, const Tensor& b) {
        return std::array{g * b, g * a};
      });
  const Tensor a = leaf({1, 2}), b = leaf({{3}, {4}}), c = leaf(5);  // b broadcasts against a
  CHECK(gradcheck([&](const Tensors& in) { return lists(in[0], in[1], in[2]); }, {a, b, c}));
  CHECK(gradgradcheck([&](const Tensors& in) { return arrays(in[0], in[1]); }, {a, b}));
  CHECK_FALSE(grad({sum(lists(a, b, c))}, {c}, {.allow_unused = true})[0].defined());
  CHECK(values(grad(sum(arrays(a, a)), {a})[0]) == Values{2, 4});
}

TEST_CASE("the forward function is not recorded and may access memory directly") {
  bool recorded = true;
  const auto half = function(
      "half",
      [&](const Tensor& x) {
        recorded = grad_enabled();
        Tensor y = Tensor::empty(x.shape(), x.dtype());
        for (int64_t i = 0; i < x.numel(); ++i) y.mutable_data<double>()[i] = x.data<double>()[i] / 2;
        return y;
      },
      [](const Tensor& g, const Tensor&) { return g / 2; });
  CHECK(gradcheck([&](const Tensors& in) { return half(in[0]); }, {leaf({1, 2, 3})}));
  half(leaf(1));
  CHECK_FALSE(recorded);

  // Returning an input does not make it its own history.
  const auto same = function(
      "same", [](const Tensor& x) { return x; }, [](const Tensor& g, const Tensor&) { return g; });
  const Tensor x = leaf({1, 2}), y = same(x);
  CHECK_FALSE(y.same_as(x));
  sum(y).backward();
  CHECK(values(x.grad()) == Values{1, 1});
  CHECK(x.is_leaf());
}

TEST_CASE("the name of an operation may be a temporary string") {
  std::string name = "numbered_" + std::to_string(12345678);
  const auto twice = function(
      name.c_str(), [](const Tensor& x) { return x * 2; },
      [](const Tensor& g, const Tensor&) { return g * 2; });
  name.assign(name.size(), '?');
  CHECK(Node::of(twice(leaf(1)))->name == std::string("numbered_12345678"));
}

TEST_CASE("errors of custom operations name the mistake") {
  const Tensor x = leaf({1, 2});
  const auto plus = [](const Tensor& a, const Tensor& b) { return a + b; };
  const auto too_few =
      function("too_few", plus, [](const Tensor& g, const Tensor&, const Tensor&) { return g; });
  CHECK_ERROR(sum(too_few(x, x)).backward(),
              "too_few: the gradient rule gave 1 gradients for 2 inputs; give one for each, undefined where "
              "there is none");
  const auto misshapen = function(
      "misshapen", [](const Tensor& v) { return v * 1; },
      [](const Tensor&, const Tensor&) { return ones({3}, float64); });
  CHECK_ERROR_HAS(sum(misshapen(x)).backward(), "misshapen: the gradient is [3], the input is [2]");
  CHECK_ERROR(too_few(x, 2.5), "too_few: an input is a number; write tensor(2.5)");

  const auto square_of = function(
      "square_of", [](const Tensor& v) { return v * v; },
      [](const Tensor& g, const Tensor& v) { return 2 * g * v; });
  const Tensor y = square_of(x);
  unrecorded([&] { mul_(x, 2); });
  CHECK_ERROR_HAS(sum(y).backward(), "square_of: a tensor of shape [2], saved at");
}

TEST_CASE("a forward or backward with the wrong parameters is a compile error of one line") {
  const Texts errors = compile_errors(R"(
#include "autograd/function.h"
using namespace heed;
void f(const Tensor& x) {
  const auto forward = [](const Tensor& a, const Tensor& b) { return a; };
  const auto short_of_b = function("f", forward, [](const Tensor& g, const Tensor& a) { return g; });
  short_of_b(x, x);
  function("g", [](int n) { return n; }, [](const Tensor& g) { return g; });
})");
  REQUIRE(errors.size() == 2);
  CHECK(contains(errors[0],
                 "the backward must take the incoming gradient and then every input of the forward"));
  CHECK(contains(errors[1], "the forward must take 1 to 8 tensors"));
}
