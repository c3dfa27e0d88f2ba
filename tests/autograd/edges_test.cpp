// Operations on special values: 0 and -0, the smallest and largest numbers, infinities and NaN, in both
// dtypes. Values and gradients are compared with the function in long double, or with its limit. Rows note
// where PyTorch 2.13 differs, and why.

#include "autograd/ops/activation.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/moments.h"
#include "autograd/ops/rounding.h"
#include "autograd/ops/scan.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/functional.h"
#include "tests/support/expect.h"

namespace {

using Exact = long double;
constexpr Exact kSqrt2 = 1.41421356237309504880L, kInvSqrtPi = 0.56418958354775628695L;

Exact sigma(Exact x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
Exact phi(Exact x) { return std::erfc(-x / kSqrt2) / 2; }
Exact bump(Exact x) { return std::exp(-x * x / 2) * kInvSqrtPi / kSqrt2; }
Exact u_of(Exact x) { return 2 * kSqrt2 * kInvSqrtPi * (x + 0.044715L * x * x * x); }
// x times a factor that decays faster than x grows: 0 in the limit.
Exact times(Exact x, Exact factor) { return factor == 0 ? std::copysign(Exact(0), x) : x * factor; }
Exact squared(Exact x) { return x * x; }
Exact sign_of(Exact x) { return (x > 0) - (x < 0); }

// Functions of x, in heed and in long double.
#define OF(...) [](const Tensor& x) -> Tensor { return __VA_ARGS__; }
#define EXACT(...) []([[maybe_unused]] Exact x) -> Exact { return __VA_ARGS__; }

// A function, its exact value and its derivative.
const struct Function {
  std::string name;
  Tensor (*f)(const Tensor&);
  Exact (*value)(Exact);
  Exact (*slope)(Exact);
  const char* otherwise = "";  // where PyTorch differs, and why
  double error = 4;            // allowed error of the value, in units in the last place
} functions[] = {
    {"abs", OF(abs(x)), EXACT(std::fabs(x)), sign_of},
    {"exp", OF(exp(x)), EXACT(std::exp(x)), EXACT(std::exp(x))},
    {"expm1", OF(expm1(x)), EXACT(std::expm1(x)), EXACT(std::exp(x))},
    {"log", OF(log(x)), EXACT(std::log(x)), EXACT(1 / x)},
    {"log1p", OF(log1p(x)), EXACT(std::log1p(x)), EXACT(1 / (1 + x)),
     "0 of the smallest numbers: its vector code flushes them"},
    {"sqrt", OF(sqrt(x)), EXACT(std::sqrt(x)), EXACT(0.5L / std::sqrt(x))},
    {"rsqrt", OF(rsqrt(x)), EXACT(1 / std::sqrt(x)), EXACT(-std::pow(1 / std::sqrt(x), 3.0L) / 2)},
    {"reciprocal", OF(reciprocal(x)), EXACT(1 / x), EXACT(-1 / (x * x))},
    {"square", OF(square(x)), squared, EXACT(2 * x)},
    {"sin", OF(sin(x)), EXACT(std::sin(x)), EXACT(std::cos(x))},
    {"cos", OF(cos(x)), EXACT(std::cos(x)), EXACT(-std::sin(x))},
    {"tanh", OF(tanh(x)), EXACT(std::tanh(x)), EXACT(1 - std::tanh(x) * std::tanh(x))},
    {"sigmoid", OF(sigmoid(x)), sigma, EXACT(sigma(x) * sigma(-x))},
    {"erf", OF(erf(x)), EXACT(std::erf(x)), EXACT(2 * kInvSqrtPi * std::exp(-x * x))},
    {"sign", OF(heed::sign(x)), sign_of, EXACT(0)},
    {"floor", OF(floor(x)), EXACT(std::floor(x)), EXACT(0)},
    {"ceil", OF(ceil(x)), EXACT(std::ceil(x)), EXACT(0)},
    {"round", OF(round(x)), EXACT(std::nearbyint(x)), EXACT(0)},
    {"relu", OF(relu(x)), EXACT(x < 0 ? 0 : x), EXACT(!(x <= 0))},
    {"leaky_relu", OF(leaky_relu(x, 0.5)), EXACT(x > 0 ? x : x / 2), EXACT(x > 0 ? 1 : Exact(0.5))},
    {"elu", OF(elu(x)), EXACT(x > 0 ? x : std::expm1(x)), EXACT(x > 0 ? 1 : std::exp(x)),
     "the gradient of NaN is 1: it is none"},
    {"silu", OF(silu(x)), EXACT(times(x, sigma(x))), EXACT(sigma(x) + times(x, sigma(x) * sigma(-x))),
     "NaN at -inf, gradients NaN at both infinities: limits are -0, 0 and 1"},
    {"softplus", OF(softplus(x)), EXACT(x > 20 ? x : std::log1p(std::exp(x))), EXACT(x > 20 ? 1 : sigma(x))},
    {"gelu", OF(gelu(x)), EXACT(times(x, phi(x))), EXACT(phi(x) + times(x, bump(x))),
     "NaN at the infinities, inf at the largest float32, gradients NaN: limits are -0, x, 0 and 1", 512},
    {"gelu, tanh", OF(gelu(x, Gelu::tanh)), EXACT(times(x, sigma(u_of(x)))),
     [](Exact x) {
       const Exact u = u_of(x), du = 2 * kSqrt2 * kInvSqrtPi * (1 + 3 * 0.044715L * x * x);
       return sigma(u) + times(x, sigma(u) * sigma(-u) == 0 ? 0 : sigma(u) * sigma(-u) * du);
     },
     "NaN at -inf, gradients NaN from the largest numbers on: limits are -0, 0 and 1", 512},
    {"clamp to [0, 1]", OF(clamp(x, 0, 1)), EXACT(std::clamp<Exact>(x, 0, 1)), EXACT(x >= 0 && x <= 1)},
    {"x^0", OF(pow(x, 0)), EXACT(1), EXACT(0)},
    {"x^0.5", OF(pow(x, 0.5)), EXACT(std::pow(x, 0.5L)), EXACT(0.5L * std::pow(x, -0.5L)),
     "takes the root: -0 at -0 and NaN at -inf, where the C library's pow gives 0 and inf"},
    {"x^2", OF(pow(x, 2)), squared, EXACT(2 * x)},
    {"x^3", OF(pow(x, 3)), EXACT(squared(x) * x), EXACT(3 * x * x)},
    {"x^-1", OF(pow(x, -1)), EXACT(1 / x), EXACT(-1 / (x * x))},
    {"2^x", OF(pow(2, x)), EXACT(std::exp2(x)), EXACT(std::exp2(x) * std::log(Exact(2)))},
};

template <class T>
Values edges() {
  using Limits = std::numeric_limits<T>;
  Values x = {NAN};
  for (const T v :
       {T(0), Limits::denorm_min(), Limits::min(), T(1), T(3), T(30), Limits::max(), Limits::infinity()})
    x.insert(x.end(), {static_cast<double>(v), -static_cast<double>(v)});
  for (int i = 0; i < 2; ++i)
    x.insert(x.end(), x.begin(), x.begin() + 17);  // in all SIMD lanes and after the last one
  return x;
}

// The error of y in units in the last place of T; infinite if only one of the two is NaN or infinite.
template <class T>
double units(double y, Exact exact) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(exact) || std::isnan(y)) return std::isnan(exact) && std::isnan(y) ? 0 : INFINITY;
  const T rounded = static_cast<T>(exact);
  if (std::isinf(rounded) || std::isinf(y)) return y == static_cast<double>(rounded) ? 0 : INFINITY;
  const int last =
      std::max(exact == 0 ? INT_MIN : std::ilogb(exact), Limits::min_exponent - 1) - Limits::digits + 1;
  return static_cast<double>(std::fabs((static_cast<Exact>(y) - exact) / std::ldexp(Exact(1), last)));
}

// A function of three numbers.
const struct LineFunction {
  std::string name;
  Tensor (*f)(const Tensor&);
  bool sums = false;  // intermediate sums or squares overflow before the result, as in PyTorch
} line_functions[] = {
    {"sum", OF(sum(x))},
    {"mean", OF(mean(x)), true},
    {"max", OF(max(x, 0).values)},
    {"min", OF(min(x, 0).values)},
    {"amax", OF(amax(x, 0))},
    {"amin", OF(amin(x, 0))},
    {"argmax", OF(argmax(x, 0))},
    {"argmin", OF(argmin(x, 0))},
    {"cumsum", OF(cumsum(x, 0))},
    {"logsumexp", OF(logsumexp(x, 0))},
    {"softmax", OF(softmax(x, 0)[0])},
    {"log_softmax", OF(log_softmax(x, 0)[0])},
    {"var", OF(var(x)), true},
    {"stddev", OF(heed::stddev(x)), true},
    {"layer_norm", OF(layer_norm(x, {3})[0]), true},
    {"rms_norm", OF(rms_norm(x, {3})[0]), true},
    {"matmul", OF(matmul(reshape(x, {1, 3}), reshape(0 * x.detach() + 1, {3, 1})))},
    {"cross_entropy", OF(F::cross_entropy(x, tensor(0, int64)))},
    {"binary_cross_entropy_with_logits",
     OF(F::binary_cross_entropy_with_logits(x, to(tensor({0, 1, 0.5}), x.dtype()),
                                            {.reduction = Reduction::none}))},
    {"mse_loss", OF(F::mse_loss(x, zeros({3}, x.dtype())))},
    {"l1_loss", OF(F::l1_loss(x, zeros({3}, x.dtype()))), true},
    {"huber_loss", OF(F::huber_loss(x, zeros({3}, x.dtype()))), true},
    {"smooth_l1_loss", OF(F::smooth_l1_loss(x, zeros({3}, x.dtype()))), true},
    {"attention", OF(F::scaled_dot_product_attention(ones({1, 1}, x.dtype()), reshape(x, {3, 1}),
                                                     to(tensor({{1}, {2}, {4}}), x.dtype()))
                         .output)},
};
const std::vector<Values> lines = {
    {0, 0, 0},          {-0.0, -0.0, -0.0},     {kInf, 1, 2},     {-kInf, 1, 2},
    {-kInf, -kInf, 1},  {kInf, kInf, 1},        {kInf, -kInf, 0}, {-kInf, -kInf, -kInf},
    {kNaN, 1, 2},       {3e38, 3e38, 3e38},     {3e38, -3e38, 0}, {1e30, 2e30, 3e30},
    {1e-45, 0, -1e-45}, {1e-30, 2e-30, -3e-30}, {88, 89, 90},     {-1000, 0, 1000}};

bool alike(double y, double exact) {
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(rounded) || std::isinf(rounded)) return std::isnan(rounded) ? std::isnan(y) : y == rounded;
  return std::abs(y - exact) <= 2e-5 * std::abs(exact) + 1e-44 + (std::abs(exact) < 2 ? 1e-6 : 0);
}

}  // namespace

TEST_CASE("special values: float32 equals float64 on vectors, within its range") {
  for (const LineFunction& f : line_functions)
    for (const Values& line : lines) {
      const Tensor x = to(from_vector(line, {3}), float32).requires_grad_(),
                   exact = to(x.detach(), float64).requires_grad_();
      const double most = largest_difference(line, Values(3, 0));
      if (f.sums && std::isfinite(most) && (most > 1e19 || most < 1e-19)) continue;
      const Tensor y = f.f(x), want = f.f(exact);
      INFO(f.name, " of ", to_string(x.detach()));
      REQUIRE(y.numel() == want.numel());
      for (size_t i = 0; i < values(y).size(); ++i) CHECK(alike(values(y)[i], values(want)[i]));
      if (!y.requires_grad()) continue;
      sum(y).backward();
      sum(want).backward();
      for (size_t i = 0; i < 3; ++i) CHECK(alike(values(x.grad())[i], values(exact.grad())[i]));
    }
}

TEST_CASE_TEMPLATE("special values: unary functions and their derivatives", T, float, double) {
  const Values at = edges<T>();
  const Tensor all = to(from_vector(at, {std::ssize(at)}), dtype_of<T>);
  for (const bool strided : {false, true}) {
    const Tensor memory = strided ? transpose(stack({all, all}, 0), 0, 1) : all;
    for (const Function& f : functions) {
      const Tensor x = (strided ? memory[{whole, 0}] : memory).detach().requires_grad_();
      const Tensor y = f.f(x);
      sum(y).backward();
      const Values value = values(y), slope = values(x.grad());
      for (size_t i = 0; i < at.size(); ++i) {
        const auto exact = static_cast<Exact>(at[i]);
        const Exact v = f.value(exact), s = f.slope(exact);
        INFO(f.name, " of ", at[i]);
        CHECK_MESSAGE(units<T>(value[i], v) <= f.error, value[i], " instead of ", static_cast<double>(v));
        CHECK_MESSAGE((std::signbit(value[i]) == std::signbit(v) || at[i] != 0), "the sign of 0");
        // Terms cancel in some derivatives; their error is relative to 1.
        CHECK_MESSAGE((units<T>(slope[i], s) <= 64 ||
                       std::fabs(static_cast<Exact>(slope[i]) - s) <= 64 * std::numeric_limits<T>::epsilon()),
                      "slope ", slope[i], " instead of ", static_cast<double>(s));
      }
    }
  }
}

// Values and gradients by hand.
TEST_CASE_TEMPLATE("special values: vectors in float32 and float64", T, float, double) {
  const auto gives = [](auto f, const Values& line, const Values& value, const Values& slope) {
    const Tensor x = to(from_vector(line, {std::ssize(line)}), dtype_of<T>).requires_grad_();
    const Tensor y = f(x);
    sum(y).backward();
    CHECK(largest_difference(values(y), value) < 1e-6);
    CHECK(largest_difference(values(x.grad()), slope) < 1e-6);
  };
  const auto soft = OF(softmax(x, 0));
  gives(soft, {-kInf, 0, 0}, {0, 0.5, 0.5}, {0, 0, 0});
  gives(soft, {-kInf, -kInf, -kInf}, {kNaN, kNaN, kNaN}, {kNaN, kNaN, kNaN});  // masked_softmax returns 0
  gives(soft, {kInf, 0, 0}, {kNaN, kNaN, kNaN}, {kNaN, kNaN, kNaN});
  gives(OF(masked_softmax(x, zeros({3}, boolean), 0)), {1, 2, 3}, {0, 0, 0}, {0, 0, 0});
  gives(OF(logsumexp(x, 0)), {-kInf, -kInf, -kInf}, {-kInf}, {kNaN, kNaN, kNaN});
  gives(OF(logsumexp(x, 0)), {-kInf, 0, 0}, {std::log(2.0)}, {0, 0.5, 0.5});
  const auto entropy = OF(F::cross_entropy(x, tensor(0, int64)));
  gives(entropy, {-kInf, 0, 0}, {kInf}, {-1, 0.5, 0.5});
  gives(entropy, {0, -kInf, 0}, {std::log(2.0)}, {-0.5, 0, 0.5});
  gives(entropy, {1e30, 1e30, 1e30}, {std::log(3.0)}, {-2.0 / 3, 1.0 / 3, 1.0 / 3});
  gives(entropy, {1000, 0, -1000}, {0}, {0, 0, 0});
  gives(OF(max(x, 0).values), {1, 3, 3}, {3}, {0, 1, 0});  // the first maximum
  gives(OF(amax(x, 0)), {1, 3, 3}, {3}, {0, 0.5, 0.5});    // equal shares
  gives(OF(maximum(x, 3)), {1, 3, 5}, {3, 3, 5}, {0, 0.5, 1});
  gives(OF(prod(x, 0)), {0, 2, 3}, {0}, {6, 0, 0});
  gives(OF(prod(x, 0)), {0, 0, 3}, {0}, {0, 0, 0});
  gives(OF(heed::stddev(x)), {2, 2, 2}, {0}, {0, 0, 0});  // PyTorch's gradient is NaN
  gives(OF(where(x > 0, sqrt(where(x > 0, x, 1)), 0)), {-1, 0, 4}, {0, 0, 2}, {0, 0, 0.25});
  gives(OF(where(x > 0, log(x), 0)), {-1, 1, 2}, {0, 0, std::log(2.0)}, {0, 1, 0.5});
  gives(OF(matmul(x, to(tensor({0, 1, 0}), x.dtype()))), {kInf, 1, 2}, {kNaN},
        {0, 1, 0});  // 0 * inf is NaN and is not skipped
}

// a and b, the value, and both gradients.
TEST_CASE("special values: binary functions") {
  const struct {
    std::string name;
    Tensor (*f)(const Tensor&, const Tensor&);
    double a, b, y, da, db;
  } rows[] = {
      {"div", [](const Tensor& a, const Tensor& b) { return a / b; }, 1, 0, kInf, kInf, -kInf},
      {"div", [](const Tensor& a, const Tensor& b) { return a / b; }, 1, -0.0, -kInf, -kInf, -kInf},
      {"div", [](const Tensor& a, const Tensor& b) { return a / b; }, 0, 0, kNaN, kInf, kNaN},
      {"div", [](const Tensor& a, const Tensor& b) { return a / b; }, 1, kInf, 0, 0, -0.0},
      {"div", [](const Tensor& a, const Tensor& b) { return a / b; }, kInf, kInf, kNaN, 0, kNaN},
      {"mul", [](const Tensor& a, const Tensor& b) { return a * b; }, 0, kInf, kNaN, kInf, 0},
      {"sub", [](const Tensor& a, const Tensor& b) { return a - b; }, kInf, kInf, kNaN, 1, -1},
      {"maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); }, kNaN, 1, kNaN, 1, 1},
      {"maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); }, 2, 2, 2, 0.5, 0.5},
      {"minimum", [](const Tensor& a, const Tensor& b) { return minimum(a, b); }, 1, kNaN, kNaN, 1, 1},
      {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); }, 0, 0, 1, 0, 0},
      {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); }, 0, 2, 0, 0, 0},
      {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); }, 0, -1, kInf, -kInf, -kInf},
      {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); }, -2, 2, 4, -4, kNaN},
      {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); }, -1, 0.5, kNaN, kNaN, kNaN},
      {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); }, kNaN, 0, 1, 0, kNaN},
  };
  for (const DType dtype : {float32, float64})
    for (const auto& row : rows) {
      const Tensor a = full({17}, row.a, dtype).requires_grad_(),
                   b = full({17}, row.b, dtype).requires_grad_();
      const Tensor y = row.f(a, b);
      sum(y).backward();
      INFO(row.name, " of ", row.a, " and ", row.b);
      CHECK(largest_difference(values(y), Values(17, row.y)) == 0);
      CHECK(largest_difference(values(a.grad()), Values(17, row.da)) == 0);
      CHECK(largest_difference(values(b.grad()), Values(17, row.db)) == 0);
    }
}
