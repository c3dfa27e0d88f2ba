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
  check_near(jacobian(of_three, point), {2, 3},
             {-1.2, 0.5, 0.0, 0.35308411773274234, 0.06450265091446804, 3.816609368488588});
  check_near(hessian(number_of_three, point), {3, 3},
             {-2.2195647288429856, 0.9997006937773032, -0.26763260015608575, 0.9997006937773032,
              0.0063110324100136336, -0.014304643066969887, -0.26763260015608575, -0.014304643066969873,
              2.4946595433854606});
  const auto [y, dy] = jvp(of_three, point, tensor({1, -2, 0.5}, float64));
  check_near(y, {2}, values(of_three(point)));
  check_near(dy, {2}, {-2.2, 2.1323835001480997});
  CHECK_FALSE(y.requires_grad());
  CHECK_FALSE(dy.requires_grad());
}

TEST_CASE("jacobian, hessian and jvp of a function of a list") {
  const Tensors in = {matrix_point, vector_point};
  const Tensors j = jacobian(of_two, in);
  check_near(j[0], {2, 2, 2},
             {0.04915298331037046, -0.09830596662074093, -0.04915298331037047, 0.09830596662074094,
              0.09830596662074094, -0.19661193324148188, -0.09830596662074093, 0.19661193324148185});
  check_near(j[1], {2, 2},
             {0.534446645388523, -0.1966119332414819, -0.3932238664829637, -0.12428244511296849});
  const auto h = hessian([](const Tensors& x) { return sum(of_two(x) * of_two(x)); }, in);
  check_near(h[0][0], {2, 2, 2, 2},
             {0.028075071600001472, -0.056150143200002944, -0.028075071600001472, 0.056150143200002944,
              -0.056150143200002944, 0.11230028640000589, 0.056150143200002944, -0.11230028640000589,
              -0.02807507160000147, 0.05615014320000294, 0.02807507160000147, -0.05615014320000294,
              0.05615014320000294, -0.11230028640000587, -0.05615014320000294, 0.11230028640000587});
  check_near(h[0][1], {2, 2, 2},
             {-0.0024522112827166653, -0.00654610083147239, -0.06286910811441859, -0.02079456367698118,
              0.0024522112827166515, 0.006546100831472418, 0.06286910811441848, 0.020794563676981057});
  check_near(h[1][0], {2, 2, 2},
             {-0.002452211282716693, -0.06286910811441854, 0.00245221128271661, 0.06286910811441854,
              -0.00654610083147239, -0.02079456367698118, 0.00654610083147239, 0.020794563676981126});
  check_near(h[1][1], {2, 2},
             {0.3682157127193487, -0.548754958502971, -0.5487549585029706, -0.2521733626912175});
  const JvpResult along = jvp(of_two, in, {ones({2, 2}, float64), tensor({2, -1}, float64)});
  check_near(along.output, {2}, {0.36552928931500245, -0.26894142136999516});
  check_near(along.jvp, {2}, {1.2655052240185278, -0.6621652878529589});
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
