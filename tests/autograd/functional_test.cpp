#include "autograd/functional.h"

#include "tests/support/expect.h"

namespace {

// Functions of one tensor and of two, whose derivatives PyTorch computed.
Tensor of_three(const Tensor& x) { return stack({x[0] * x[1], logsumexp(x, 0) * x[2]}); }
Tensor number_of_three(const Tensor& x) { return x[0] * x[0] * x[1] + logsumexp(x * x[2], 0); }
Tensor of_two(const Tensors& in) { return softmax(matmul(in[0], in[1]), 0) * in[1]; }

void check_near(const Tensor& x, const Shape& shape, const Values& want) {
  CHECK(x.shape() == shape);
  CHECK(largest_difference(values(x), want) < 1e-12);
}

const Tensor point = tensor({0.5, -1.2, 2}, float64);
const Tensor matrix_point = tensor({{1, 2}, {3, 4}}, float64), vector_point = tensor({0.5, -1}, float64);

}  // namespace

TEST_CASE("jacobian, hessian and jvp of a function of one tensor") {
  check_near(jacobian(of_three, point), {2, 3}, {-1.2, 0.5, 0, 0.9092974268256817, 0, -0.2080734182735712});
  check_near(
      hessian(number_of_three, point), {3, 3},
      {-2.4, 1, 0, 1, 0.36287181315765005, -0.1270051346051775, 0, -0.1270051346051775, 0.130633852736754});
  const auto [y, dy] = jvp(of_three, point, tensor({1, -2, 0.5}, float64));
  check_near(y, {2}, values(of_three(point)));
  check_near(dy, {2}, {-2.2, 0.805260717688896});
  CHECK_FALSE(y.requires_grad());
  CHECK_FALSE(dy.requires_grad());
}

TEST_CASE("jacobian, hessian and jvp of a function of a list") {
  const Tensors in = {matrix_point, vector_point};
  const Tensors j = jacobian(of_two, in);
  check_near(
      j[0], {2, 2, 2},
      {0.04517665973091215, -0.0903533194618243, 0, 0, 0, 0, -0.013296113341580285, 0.02659222668316057});
  check_near(j[1], {2, 2},
             {-0.814794934183042, 0.1807066389236486, -0.07977668004948171, -1.0929832048840726});
  const auto h = hessian([](const Tensors& x) { return sum(of_two(x) * of_two(x)); }, in);
  check_near(
      h[0][0], {2, 2, 2, 2},
      {-0.032931076224256436, 0.06586215244851287, 0, 0, 0.06586215244851287, -0.13172430489702575, 0, 0, 0,
       0, -0.025531506903207674, 0.05106301380641535, 0, 0, 0.05106301380641535, -0.1021260276128307});
  check_near(h[0][1], {2, 2, 2},
             {-0.31121160041417384, -0.13172430489702575, 0.4588569021845737, 0.1816654604721645,
              -0.20566158354982644, -0.15177951309508098, 0.3063780828384921, 0.25108648405958156});
  check_near(h[1][0], {2, 2, 2},
             {-0.31121160041417384, 0.45885690218457365, -0.20566158354982644, 0.3063780828384921,
              -0.13172430489702575, 0.1816654604721645, -0.151779513095081, 0.2510864840595816});
  check_near(h[1][1], {2, 2},
             {-0.06653702583489518, -1.8283908829396331, -1.8283908829396334, 0.6254625593295713});
  const JvpResult along = jvp(of_two, in, {ones({2, 2}, float64), tensor({2, -1}, float64)});
  check_near(along.output, {2}, {-0.452574126822433, 0.986614298151430});
  check_near(along.jvp, {2}, {-1.855473167020645, 0.946725958126689});
}

TEST_CASE("derivatives of functions: constants, linear functions, scalars, no elements") {
  const auto constant = [](const Tensor&) { return ones({2}, float64); };
  check_near(jacobian(constant, point), {2, 3}, Values(6, 0));
  check_near(jvp(constant, point, point).jvp, {2}, {0, 0});
  check_near(hessian([](const Tensor& x) { return sum(2 * x); }, point), {3, 3}, Values(9, 0));
  check_near(hessian([](const Tensor& x) { return sum(x * x, 0, true); }, point), {3, 3},
             {2, 0, 0, 0, 2, 0, 0, 0, 2});
  check_near(jacobian([](const Tensor& x) { return x * x; }, tensor(3, float64)), {}, {6});
  check_near(jacobian([](const Tensor& x) { return x * x; }, zeros({0, 2}, float64)), {0, 2, 0, 2}, {});
  check_near(jacobian(
                 [](const Tensor& x) {
                   return sum(x, {0, 1, 2, 3, 4, 5, 6, 7});
                 },
                 ones({1, 2, 1, 1, 1, 1, 1, 1}, float64)),
             {1, 2, 1, 1, 1, 1, 1, 1}, {1, 1});
}

TEST_CASE("derivatives of functions: under NoGrad, and differentiated again with create_graph") {
  const auto cube = [](const Tensor& x) { return x * x * x; };
  const Tensor x = leaf({2, 3});
  const NoGrad guard;
  check_near(jacobian(cube, x), {2, 2}, {12, 0, 0, 27});
  CHECK_FALSE(x.grad().defined());
  {
    const GradMode recorded(true);
    sum(jacobian(cube, x, true)).backward();
    check_near(x.grad(), {2}, {12, 18});
    x.set_grad({});
    sum(jvp(cube, x, tensor({1, 2}, float64), true).jvp).backward();  // 3 x^2 v
    check_near(x.grad(), {2}, {12, 36});
    x.set_grad({});
    sum(hessian([&](const Tensor& in) { return sum(cube(in)); }, x, true)).backward();
    check_near(x.grad(), {2}, {6, 6});
    CHECK_FALSE(jacobian(cube, x).requires_grad());
  }
}

TEST_CASE("derivatives of functions: invalid arguments") {
  const auto same = [](const Tensor& x) { return x * 1; };
  CHECK_ERROR(hessian(same, point), "hessian: f gave [3]; it must be one number");
  CHECK_ERROR_HAS(jvp(same, point, ones({2}, float64)),
                  "its incoming gradient float64 [2]; they must be equal");
  CHECK_ERROR(jvp(of_two, {matrix_point, vector_point}, {matrix_point}),
              "jvp: there are 2 inputs and 1 vectors; give one for each");
  CHECK_ERROR(jacobian([](const Tensor& x) { return x > 0; }, point),
              "jacobian: f gave bool [3]; derivatives need float32 or float64");
  CHECK_ERROR_HAS(jacobian(same, tensor({1}, int64)), "only floating tensors have gradients");
  CHECK_ERROR_HAS(jacobian(same, ones({1, 1, 1, 1, 1}, float64)), "at most 8");
}
