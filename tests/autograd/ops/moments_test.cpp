#include "autograd/ops/moments.h"

#include "tests/support/expect.h"

// With zeros, equal elements and a row of zeros; PyTorch's values and gradients.
TEST_CASE("norm: every p, also where it has no derivative") {
  const auto check_norm = [](double p, const Values& want, const Values& gradient) {
    CAPTURE(p);
    const Tensor x = leaf({{3, -4, 0}, {0, 0, 0}, {1, -1, 1}}), y = norm(x, p, 1);
    CHECK(largest_difference(values(y), want) < 1e-12);
    sum(y * tensor({1, 2, 3}, float64)).backward();
    CHECK(largest_difference(values(x.grad()), gradient) < 1e-12);
  };
  const double third = 1 / 3.;
  check_norm(2, {5, 0, 1.7320508075688772},
             {0.6, -0.8, 0, 0, 0, 0, 1.7320508075688772, -1.7320508075688772, 1.7320508075688772});
  check_norm(1, {7, 0, 3}, {1, -1, 0, 0, 0, 0, 3, -3, 3});
  check_norm(0, {2, 0, 3}, Values(9, 0));
  check_norm(3, {4.497941445275415, 0, 1.4422495703074083},
             {0.4448513517305356, -0.7908468475209521, 0, 0, 0, 0, 1.4422495703074083, -1.4422495703074083,
              1.4422495703074083});
  check_norm(0.5, {13.928203230275509, 0, 9}, {2.154700538379252, -1.8660254037844386, 0, 0, 0, 0, 9, -9, 9});
  check_norm(1.5, {5.584250376480029, 0, 2.080083823051904},
             {0.7329564758289748, -0.8463452372482761, 0, 0, 0, 0, 2.080083823051904, -2.080083823051904,
              2.080083823051904});
  check_norm(-1, {0, 0, third}, {0, 0, 0, 0, 0, 0, third, -third, third});
  check_norm(kInf, {4, 0, 1}, {0, -1, 0, 0, 0, 0, 1, -1, 1});
  check_norm(-kInf, {0, 0, 1}, {0, 0, 0, 0, 0, 0, 1, -1, 1});
}

TEST_CASE("norm: NaN, infinity, scalars and no elements") {
  for (const double p : {2., 1., 3., -1., kInf, -kInf}) CHECK(std::isnan(norm(tensor({kNaN, 1}), p).item()));
  CHECK(norm(tensor({kNaN, 1}), 0).item() == 2);
  CHECK(norm(tensor({kInf, 1})).item() == kInf);
  CHECK(norm(tensor({kInf, 1}), -1).item() == 1);
  CHECK(norm(tensor(-3)).item() == 3);
  CHECK(norm(tensor(-3), 3, 0).item() == doctest::Approx(3));
  for (const double p : {2., 0., 3.}) {
    CHECK(norm(zeros({0}), p).item() == 0);
    CHECK(values(norm(zeros({2, 0}), p, 1)) == Values{0, 0});
  }
  for (const double p : {-1., kInf, -kInf})
    CHECK_ERROR_HAS(norm(zeros({0}), p), "norm: x is [0], which has no values along dim 0");
  CHECK_ERROR_HAS(norm(tensor({1}, int64)), "norm: x is int64 [1]");
  CHECK_ERROR(norm(ones({2}), kNaN), "norm: p is NaN");
}
