#include "nn/optim/clip.h"

#include "tests/support/expect.h"

static Tensors with_gradients(const std::vector<Values>& gradients) {
  Tensors params;
  for (const auto& g : gradients) {
    const Shape shape{static_cast<int64_t>(g.size())};
    params.push_back(zeros(shape, float64).requires_grad_());
    params.back().set_grad(from_vector(g, shape));
  }
  params.push_back(zeros({2}, float64).requires_grad_());  // without a gradient
  return params;
}

// covers: C-100-05
TEST_CASE("clip_grad_norm_: one norm over all gradients, returned as it was before") {
  const auto params = with_gradients({{3, 0}, {0, -4}});
  CHECK(clip_grad_norm_(params, 10) == 5);
  CHECK(values(params[0].grad()) == Values{3, 0});
  CHECK(clip_grad_norm_(params, 1) == 5);
  CHECK(params[0].grad().to_vector<double>()[0] == doctest::Approx(0.6).epsilon(1e-6));
  CHECK(params[1].grad().to_vector<double>()[1] == doctest::Approx(-0.8).epsilon(1e-6));
  CHECK(!params[2].grad().defined());
}

TEST_CASE("clip_grad_norm_: other norms, and NaN") {
  CHECK(clip_grad_norm_(with_gradients({{3, 0}, {0, -4}}), 100, 1) == 7);
  CHECK(clip_grad_norm_(with_gradients({{3, 0}, {0, -4}}), 100, kInf) == 4);
  CHECK(clip_grad_norm_(with_gradients({{3, 0}, {0, -4}}), 100, 3) == doctest::Approx(std::cbrt(91.0)));
  CHECK(clip_grad_norm_({}, 1) == 0);
  for (const double norm_type : {2.0, kInf}) {
    const auto params = with_gradients({{1, kNaN, 2}, {3}});
    CHECK(std::isnan(clip_grad_norm_(params, 1, norm_type)));
    for (const double g : {params[0].grad().to_vector()[0], params[1].grad().item()}) CHECK(std::isnan(g));
  }
  CHECK_ERROR(clip_grad_norm_({}, -1),
              "clip_grad_norm_: max_norm -1, norm_type 2; the first must be at least 0, the second above 0");
}

TEST_CASE("clip_grad_value_: limits every element") {
  const auto params = with_gradients({{3, -0.25}, {0.5, -4}});
  clip_grad_value_(params, 0.5);
  CHECK(values(params[0].grad()) == Values{0.5, -0.25});
  CHECK(values(params[1].grad()) == Values{0.5, -0.5});
  CHECK_ERROR(clip_grad_value_(params, -1), "clip_grad_value_: clip_value is -1; it must be at least 0");
}
