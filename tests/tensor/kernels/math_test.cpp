#include "tensor/kernels/math.h"

#include <cstring>

#include "autograd/ops/activation.h"
#include "autograd/ops/elementwise.h"
#include "tensor/table.h"
#include "tests/support/expect.h"

namespace {

constexpr float kTiny = std::numeric_limits<float>::denorm_min();
constexpr float kSmallestNormal = std::numeric_limits<float>::min();
constexpr float kLargest = std::numeric_limits<float>::max();

double sigma(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

// Each function in heed, in the C library in double, and the largest error that math.h documents, in units in
// the last place.
const struct Function {
  std::string name;
  Tensor (*kernel)(Operand);
  double (*exact)(double);
  double ulp;
  bool c_library = false;  // float64 uses the C library
} functions[] = {
    {"exp", heed::exp, [](double x) { return std::exp(x); }, 1, true},
    {"expm1", heed::expm1, [](double x) { return std::expm1(x); }, 1.6, true},
    {"log", heed::log, [](double x) { return std::log(x); }, 1, true},
    {"log1p", heed::log1p, [](double x) { return std::log1p(x); }, 1.5, true},
    {"tanh", heed::tanh, [](double x) { return std::tanh(x); }, 3, true},
    {"erf", heed::erf, [](double x) { return std::erf(x); }, 2, true},
    {"sigmoid", heed::sigmoid, sigma, 2.5},
    {"silu", heed::silu, [](double x) { return x * sigma(x); }, 3.5},
    {"softplus", [](Operand x) { return softplus(x); },
     [](double x) { return x > 20 ? x : std::log1p(std::exp(x)); }, 2.5},
    {"elu", [](Operand x) { return elu(x); }, [](double x) { return x > 0 ? x : std::expm1(x); }, 1.5},
    {"sqrt", heed::sqrt, [](double x) { return std::sqrt(x); }, 0.5},
    {"rsqrt", heed::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1.5},
    {"reciprocal", heed::reciprocal, [](double x) { return 1 / x; }, 0.5},
    {"square", heed::square, [](double x) { return x * x; }, 0.5},
    {"sin", heed::sin, [](double x) { return std::sin(x); }, 1},
    {"cos", heed::cos, [](double x) { return std::cos(x); }, 1},
    // The argument of exp is rounded, and the error grows with it; PyTorch gives 0 below about -5.
    {"gelu", [](Operand x) { return gelu(x); },
     [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }, 80},
    {"gelu, tanh", [](Operand x) { return gelu(x, Gelu::tanh); },
     [](double x) { return x * sigma(1.5957691216057308 * (x + 0.044715 * x * x * x)); }, 200},
};

// |y - exact| in units in the last place of a float of that size.
double ulps(float y, double exact) {
  if (std::isnan(exact)) return std::isnan(y) ? 0 : INFINITY;
  if (std::fabs(exact) > kLargest)
    return y == static_cast<float>(exact) || std::fabs(y) == kLargest ? 0 : INFINITY;
  if (std::fabs(exact) < kTiny / 2) return y == 0 ? 0 : INFINITY;
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::fabs(y - exact) / std::ldexp(1, exponent - 23);
}

// The argument in x with the largest error of f, and the error.
std::pair<float, double> worst(const Function& f, const std::vector<float>& x) {
  const auto y = f.kernel(from_vector(x, {static_cast<int64_t>(x.size())})).to_vector<float>();
  std::pair<float, double> found{0, -1};
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = f.exact(x[i]), error = ulps(y[i], exact);
    if (f.name == "gelu" && std::fabs(exact) < kSmallestNormal && std::fabs(y[i]) <= kSmallestNormal)
      continue;  // may be 0
    if (!(error <= found.second)) found = {x[i], error};
  }
  return found;
}

}  // namespace

TEST_CASE("float32 functions are as accurate as documented; prints a table") {
  std::vector<float> x;  // every 2503rd float
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 2503) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isfinite(value)) x.push_back(value);
  }
  for (int i = -110 * 256; i <= 110 * 256; ++i)
    x.push_back(static_cast<float>(i) / 256);  // around branch points
  Table table({"float32", "largest error, ulp", "of", "promised"});
  for (const Function& f : functions) {
    const auto [at, error] = worst(f, x);
    CHECK_MESSAGE(error <= f.ulp, f.name, " of ", at, " is off by ", error, " ulp");
    table.add({f.name, decimals(error, 2), short_number(at), to_string(f.ulp)});
  }
  std::printf("%s\n", table.to_string().c_str());
}

// edges_test.cpp tests infinities.
TEST_CASE("special values of float32 functions") {
  std::vector<float> x = {NAN,    -2,      88.722839f, 88.72284f,
                          -87.3f, -103.9f, -104.1f,    std::nextafter(-1.0f, 0.0f)};
  for (const float v : {0.0f, 1.0f, kTiny, kSmallestNormal, kLargest}) x.insert(x.end(), {v, -v});
  for (const Function& f : functions) {
    const auto y = f.kernel(from_vector(x, {static_cast<int64_t>(x.size())})).to_vector<float>();
    for (size_t i = 0; i < x.size(); ++i)
      CHECK_MESSAGE(ulps(y[i], f.exact(x[i])) <= f.ulp, f.name, "(", x[i], ") is ", y[i]);
  }
  const auto exp_of = heed::exp(tensor({-100, -103})).to_vector<float>();
  CHECK(exp_of[0] > 0);  // subnormal results
  CHECK(exp_of[1] > 0);
  CHECK(std::signbit(heed::tanh(tensor(-0.0)).item<float>()));
  CHECK(std::signbit(heed::erf(tensor(-0.0)).item<float>()));
}

TEST_CASE("float64 functions equal the C library's") {
  Generator generator(1);
  const Tensor x = randn({1000}, float64, &generator);
  const auto in = x.to_vector<double>();
  for (const Function& f : functions) {
    if (!f.c_library) continue;
    const auto y = f.kernel(x).to_vector<double>();
    size_t wrong = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      const double exact = f.exact(in[i]);
      wrong += !(y[i] == exact || (std::isnan(y[i]) && std::isnan(exact)));
    }
    CHECK_MESSAGE(wrong == 0, f.name);
  }
}

TEST_CASE("a result depends on the argument alone, not on its position in the array") {
  Generator generator(2);
  const Tensor x = randn({300}, float32, &generator);
  for (const Function& f : functions) {
    const auto whole = f.kernel(x).to_vector<float>();
    size_t wrong = 0;
    for (int64_t start = 0; start < 40; ++start)
      for (const int64_t n : {1, 3, 8, 15, 16, 17, 33}) {
        const auto part = f.kernel(TensorImpl::view(x, {n}, {1}, start)).to_vector<float>();
        wrong += std::memcmp(part.data(), whole.data() + start, part.size() * sizeof(float)) != 0;
      }
    CHECK_MESSAGE(wrong == 0, f.name);
  }
}
