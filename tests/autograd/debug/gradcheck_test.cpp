#include "autograd/debug/gradcheck.h"

#include "autograd/ops/elementwise.h"
#include "tests/support/expect.h"

TEST_CASE("gradcheck accepts correct rules and restores the inputs") {
  const Tensor x = leaf({{0.5, -1, 2}, {1, 3, -0.25}}), w = leaf({1, 2, 3});
  const auto f = [](const Tensors& in) { return tanh(in[0] * in[1]) * in[0]; };
  const GradcheckReport report = gradcheck(f, {x, w});
  CHECK_MESSAGE(report, report.message);
  CHECK(report.error < 1e-8);
  CHECK(gradgradcheck(f, {x, w}));
  CHECK(values(x) == Values{0.5, -1, 2, 1, 3, -0.25});
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("gradcheck: several or integer outputs; unused, strided or captured inputs") {
  const Tensor x = leaf({{1, 5, 2}, {7, 3, 4}}), unused = leaf(1);
  const auto sorted = [](const Tensors& in) {
    const ValuesIndices y = sort(in[0]);
    return Tensors{y.values, y.indices, in[0] * 2};
  };
  CHECK(gradcheck(sorted, {x, unused}));
  CHECK(gradgradcheck([](const Tensors& in) { return in[0] * in[0]; },
                      {transpose(x.detach()).requires_grad_()}));
  CHECK(gradcheck([](const Tensors& in) { return exp(in[0]); }, {leaf(0.5)}));
  CHECK(gradcheck([](const Tensors& in) { return exp(in[0]); }, {zeros({0, 3}, float64).requires_grad_()}));
  CHECK(gradcheck([&](const Tensors&) { return log(x); }, {x}));
}

TEST_CASE("gradcheck finds wrong rules and reports the element") {
  const auto bad = function(
      "bad", [](const Tensor& x) { return x * x; },
      [](const Tensor& g, const Tensor& x) {  // wrong only for the last element
        return g * where(x > 2, x * 2.5, x * 2);
      });
  const Tensor x = leaf({{1, 2}, {0.5, 3}});
  const GradcheckReport report = gradcheck([&](const Tensors& in) { return bad(in[0]); }, {x});
  CHECK_FALSE(report);
  CHECK(report.error == doctest::Approx(0.25).epsilon(1e-3));
  CHECK(report.where == "input 0 of shape [2, 2], element [1, 1]");
  CHECK(contains(report.message, "input 0 of shape [2, 2], element [1, 1]: numeric gradient "));
  CHECK(contains(report.message, ", analytic "));

  // A wrong sign, a missing gradient, and a NaN gradient.
  const auto fails = [&](const auto& rule) {
    const auto f = function(
        "f", [](const Tensor& v) { return exp(v); }, rule);
    return !gradcheck([&](const Tensors& in) { return f(in[0]); }, {x}).ok;
  };
  CHECK_FALSE(fails([](const Tensor& g, const Tensor& v) { return g * exp(v); }));
  CHECK(fails([](const Tensor& g, const Tensor& v) { return -g * exp(v); }));
  CHECK(fails([](const Tensor&, const Tensor&) { return Tensor(); }));
  CHECK(fails([](const Tensor& g, const Tensor& v) { return g * exp(v) * (v - v) / (v - v); }));
  CHECK(fails([](const Tensor& g, const Tensor& v) { return g * exp(v) + 1e-4; }));
}

TEST_CASE("gradgradcheck: second derivatives, and the fused form against public operations") {
  const Tensor x = leaf({0.5, 1, 2});
  const auto fails = [&](const auto& rule) {
    const auto f = function(
        "f", [](const Tensor& v) { return v * v * v; }, rule);
    const auto call = [&](const Tensors& in) { return f(in[0]); };
    CHECK(gradcheck(call, {x}));  // first derivatives are correct
    const GradcheckReport report = gradgradcheck(call, {x});
    return !report.ok && report.message.starts_with("of the gradient: ");
  };
  CHECK_FALSE(fails([](const Tensor& g, const Tensor& v) { return g * 3 * v * v; }));
  CHECK(fails([](const Tensor& g, const Tensor& v) { return g * 3 * v * v.detach(); }));
  CHECK(fails([](const Tensor& g, const Tensor& v) { return g.detach() * 3 * v * v; }));
  CHECK(fails([](const Tensor& g, const Tensor& v) { return grad_enabled() ? g * v * v : g * 3 * v * v; }));
}

TEST_CASE("gradcheck detects functions that are random or differ under NoGrad") {
  const Tensor x = leaf({1, 2});
  int call = 0;
  const GradcheckReport report = gradcheck([&](const Tensors& in) { return in[0] * (1 + call++); }, {x});
  CHECK_FALSE(report);
  CHECK(contains(report.message, "is there something random in f?"));
  CHECK_FALSE(gradcheck([&](const Tensors& in) { return grad_enabled() ? in[0] * 2 : in[0] * 3; }, {x}));
}

TEST_CASE("gradcheck rejects inputs that it cannot perturb") {
  const auto f = [](const Tensors& in) { return in[0] * 2; };
  CHECK_ERROR(gradcheck(f, {ones({2}, float64)}),
              "gradcheck: no input requires a gradient; call requires_grad_() on those to check");
  CHECK_ERROR_HAS(gradcheck(f, {ones({2}).requires_grad_()}), "gradcheck: input 0 is float32 [2]");
  const Tensor expanded = expand(ones({1}, float64), {3}).detach().requires_grad_();
  CHECK_ERROR_HAS(gradgradcheck(f, {expanded}), "gradgradcheck: input 0 of shape [3] is expanded");
  const auto recorded_only = [](const Tensors& in) { return grad_enabled() ? in : Tensors{}; };
  CHECK_ERROR_HAS(gradcheck(recorded_only, {leaf(1)}),
                  "gradcheck: f gives 1 floating outputs when recorded and 0 under NoGrad");
}
