#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

/// Functions of one number, written so that loops over them become vector code: no branch, no table, no call.
/// The float32 ones reduce the argument and evaluate a polynomial, or a quotient of two, whose coefficients
/// minimise the largest relative error over the interval given (Remez's algorithm in 160 bits, then rounded).
/// A result depends on the argument alone, not on its place in an array. Largest errors over all floats, in
/// units in the last place: exp 1, expm1 1.5, log 1, log1p 1.5, tanh 3, erf 1.5, sigmoid 2.5. The float64
/// ones are the C library's.
namespace heed::math {

/// x, or -1000 below: as good where x meets a factor that is 0 from there on, and -inf * 0 would be no
/// number.
constexpr auto not_below(auto x) { return x < -1000 ? -1000 : x; }
/// The same on either side.
constexpr auto bounded(auto x) { return x > 1000 ? 1000 : not_below(x); }

inline double exp(double x) { return std::exp(x); }
inline double exp_below(double x) { return std::exp(x); }
inline double expm1(double x) { return std::expm1(x); }
inline double log(double x) { return std::log(x); }
inline double log1p(double x) { return std::log1p(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double normal_cdf(double x) { return 0.5 * std::erfc(-0.70710678118654752440 * x); }
inline double gelu_slope(double x) {
  x = bounded(x);
  return normal_cdf(x) + x * 0.39894228040143267794 * std::exp(-0.5 * x * x);
}

namespace detail {

/// c_0 + c_1 x + c_2 x^2 + ...
constexpr float polynomial(float, float c) { return c; }
constexpr float polynomial(float x, float c, auto... more) { return c + x * polynomial(x, more...); }

/// 2^n for n in [-126, 127], and 0 for -127: the exponent field is n + 127.
inline float power_of_two(int32_t n) { return std::bit_cast<float>((n + 127) << 23); }

/// x = n log 2 + r with n whole and |r| <= log(2) / 2, for |x| < 2^20.
struct Reduced {
  int32_t n;
  float r;
  explicit Reduced(float x) {
    // Adding 1.5 * 2^23 leaves no bits for a fraction: the sum is rounded, and n is in its low bits.
    constexpr float shift = 0x1.8p23f;
    const float shifted = x * 1.44269504f + shift;
    const float whole = shifted - shift;
    n = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(shift);
    // log 2 in two parts, the first of 15 bits, so that its product with n is exact.
    r = x - whole * 0x1.62e4p-1f - whole * 0x1.7f7d1cp-20f;
  }
  /// exp(r) - 1 - r = r^2 q(r); q for |r| <= log(2) / 2.
  float tail() const {
    return r * r * polynomial(r, 0.499999940f, 0.166665211f, 0.0416683890f, 0.00836871658f, 0.00138146271f);
  }
};

constexpr float clamp(float x, float low, float high) {  // NaN stays
  x = x < low ? low : x;
  return x > high ? high : x;
}

}  // namespace detail

// exp(x) = 2^n exp(r). 2^n is multiplied in two steps because n goes from -150 (results without the leading
// bit) to 128 (results just below infinity). Beyond the bounds of x the result is 0 or infinite anyway.
inline float exp(float x) {
  const detail::Reduced part(detail::clamp(x, -104.0f, 89.0f));
  const int32_t half = part.n >> 1;
  const float e = 1 + (part.r + part.tail());
  return e * detail::power_of_two(half) * detail::power_of_two(part.n - half);
}

// exp(x) for x <= 0, and 0 where that has no leading bit: two thirds of the steps. 2^n is 0 at n = -127.
inline float exp_below(float x) {
  const detail::Reduced part(x < -87.8f ? -87.8f : x);
  return (1 + (part.r + part.tail())) * detail::power_of_two(part.n);
}

// exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), in halves, so that 2^128 does not overflow early.
inline float expm1(float x) {
  const detail::Reduced part(detail::clamp(x, -20.0f, 89.0f));
  const float e = part.r + part.tail();
  const float half = detail::power_of_two(part.n - 1);
  return std::copysign(part.n == 0 ? e : 2 * (half * e + (half - 0.5f)), x);  // of -0, too
}

// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and log(1 + f) = f - f^2 / 2 + f^3 q(f).
inline float log(float x) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const bool small = x < std::numeric_limits<float>::min();  // the leading bit is not there: scale by 2^23
  const float scaled = small ? x * 0x1p23f : x;
  constexpr uint32_t start = std::bit_cast<uint32_t>(0.707106781f);
  const auto bits = static_cast<int32_t>(std::bit_cast<uint32_t>(scaled) - start);
  const float k = static_cast<float>((bits >> 23) - (small ? 23 : 0));
  const float f = std::bit_cast<float>((static_cast<uint32_t>(bits) & 0x7fffff) + start) - 1;
  const float q = detail::polynomial(f, 0.333333313f, -0.250008196f, 0.200012282f, -0.166233584f,
                                     0.142017245f, -0.131601393f, 0.127617732f, -0.0763484016f);
  const float y = k * 0x1.62e4p-1f + (f + (f * f * (f * q - 0.5f) + k * 0x1.7f7d1cp-20f));
  const float edge = x == 0 ? -infinity : x < 0 ? std::numeric_limits<float>::quiet_NaN() : x;
  return x > 0 && x < infinity ? y : edge;
}

// log(u) for u = 1 + x rounded, and what rounding lost: log(1 + x) = log(u) + (1 + x - u) / u + ...
inline float log1p(float x) {
  const float u = 1 + x;
  const float lost = (x - (u - 1)) / u;
  return std::copysign(log(u) + (u > 0 && u < std::numeric_limits<float>::infinity() ? lost : 0), x);
}

// tanh(|x|) = (exp(2 |x|) - 1) / (exp(2 |x|) + 1); at |x| = 10 it has long been rounded to 1.
inline float tanh(float x) {
  const detail::Reduced part(detail::clamp(2 * std::abs(x), 0.0f, 20.0f));
  const float s = detail::power_of_two(part.n);
  const float e = s * (part.r + part.tail());  // exp(2 |x|) - s
  return std::copysign((e + (s - 1)) / (e + (s + 1)), x);
}

// erf(z) = z + z p(z^2) for z = |x| < 1.125, and 1 - q(u) with u in [-1, 1] up to 3.92, from where on it
// rounds to 1.
inline float erf(float x) {
  const float z = detail::clamp(std::abs(x), 0.0f, 3.93f), u = (z - 2.5275f) * (1 / 1.4025f);
  const float p = detail::polynomial(z * z, 0.128379166f, -0.376125962f, 0.112832308f, -0.0268388893f,
                                     0.00516018458f, -0.000776719244f, 7.07064828e-05f);
  const float q =
      detail::polynomial(u, 0.000350984832f, -0.00266024354f, 0.00943249185f, -0.0205533039f, 0.0302086137f,
                         -0.0306512192f, 0.0205712803f, -0.00666865706f, -0.00329313404f, 0.00546618039f,
                         -0.00199013134f, -0.000738599395f, 0.000525792828f);
  return std::copysign(z >= 3.92f ? 1 : z < 1.125f ? z + z * p : 1 - q, x);
}

namespace detail {

/// For z = |x|: gauss = exp(-z^2 / 2) and ratio = Phi(-z) / gauss. From z = 13.25 on gauss is 0.
struct Tail {
  float z, gauss, ratio;
  explicit Tail(float x) : z(clamp(std::abs(x), 0.0f, 13.26f)) {
    gauss = exp_below(-0.5f * z * z);
    ratio = polynomial(z, 0.499999718f, 0.352772821f, 0.114010808f, 0.0156580000f) /
            polynomial(z, 1.0f, 1.50342926f, 0.927612822f, 0.285522386f, 0.0392555986f);
  }
};

/// exp(-|x|) in two factors, so that what is multiplied in between keeps its digits where the product is
/// small.
struct Decay : Reduced {
  float above, below;
  explicit Decay(float x) : Reduced(clamp(-std::abs(x), -120.0f, 0.0f)) {
    const int32_t half = n >> 1;
    above = (1 + (r + tail())) * power_of_two(half);
    below = power_of_two(n - half);
  }
};

}  // namespace detail

// Phi(x), the probability that a normal variable is below x: 1/2 + c x + x t r(t) with t = x^2 < 1.7 and c in
// two parts, summed so that little is rounded where the result is large, or small; and further out from
// Phi(-|x|), so that nothing cancels where it is small.
inline float normal_cdf(float x) {
  const float t = x * x;
  const float r = detail::polynomial(t, -0.0664903671f, 0.00997345429f, -0.00118698354f, 0.000114877184f,
                                     -8.97084683e-06f, 4.57496869e-07f);
  const float rest = -1.13351704e-08f + t * r;
  const float middle = x > -0.5f ? 0.5f + x * (0.398942292f + rest) : (0.5f + x * 0.398942292f) + x * rest;
  const detail::Tail tail(x);
  const float below = tail.gauss * tail.ratio;
  return t < 1.7f ? middle : x < 0 ? below : 1 - below;
}

// The derivative of x Phi(x), which is Phi(x) + x phi(x).
inline float gelu_slope(float x) {
  const detail::Tail tail(x);
  const float below = tail.gauss * (tail.ratio - 0.398942280f * tail.z);
  return x < 0 ? below : 1 - below;
}

// c / (1 + exp(-x)). With exp(-x) = 2^n e and h half of n it is 2^-h / (e + 2^-n) c 2^(h-n): nothing
// overflows, and what has no leading bit is rounded once.
inline float sigmoid(float x, float c = 1) {
  const detail::Reduced part(detail::clamp(-x, -20.0f, 128.0f));
  const int32_t half = part.n >> 1;
  const float a = detail::power_of_two(-half), b = detail::power_of_two(half - part.n);
  return a / (1 + (part.r + part.tail()) + a * b) * c * b;
}
inline double sigmoid(double x, double c = 1) {
  const double e = exp(-std::abs(x));
  return (x < 0 ? c * e : c) / (1 + e);
}

// x (1 + tanh u) / 2 = x sigmoid(2 u) with 2 u = sqrt(8 / pi) (x + 0.044715 x^3): the first where u is small,
// the other where the result is.
inline float gelu_tanh(float x) {
  const float twice_u = 1.59576912f * (x + 0.044715f * x * x * x), half_x = 0.5f * x;
  const detail::Decay e(twice_u);
  const bool near = e.n >= -1;  // |2 u| < 1.04
  const float scale = detail::power_of_two(e.n), minus_one = scale * (e.r + e.tail()) + (scale - 1);
  const float far = x < 0 ? not_below(x) * e.above * e.below : x;
  const float quotient = (near ? minus_one : far) / (1 + e.above * e.below);  // near: -tanh |u|
  return near ? half_x - std::abs(half_x) * quotient : quotient;
}
inline double gelu_tanh(double x) {
  return sigmoid(1.59576912160573071176 * (x + 0.044715 * x * x * x), not_below(x));
}

}  // namespace heed::math
