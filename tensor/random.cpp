#include "tensor/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include "tensor/create.h"
#include "tensor/parallel.h"

namespace heed {
namespace {

// One round: two 32-bit factors give two 64-bit products, whose halves are mixed with the rest and the key.
inline std::array<uint32_t, 4> ten_rounds(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

constexpr uint32_t low_half(uint64_t x) { return static_cast<uint32_t>(x); }
constexpr uint32_t high_half(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

// The seed is the key; the counter is the position, two to a block of 128 bits, and the stream.
inline std::pair<uint64_t, uint64_t> block_of(const Generator& generator, uint64_t block) {
  const auto word = ten_rounds(
      {low_half(block), high_half(block), low_half(generator.stream()), high_half(generator.stream())},
      {low_half(generator.seed()), high_half(generator.seed())});
  return {uint64_t{word[1]} << 32 | word[0], uint64_t{word[3]} << 32 | word[2]};
}

// The product's upper half: 64 random bits become a number below `range`. What it favours it favours by less
// than range / 2^64.
uint64_t below(uint64_t range, uint64_t bits) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((Wide{range} * bits) >> 64);
}

template <class T>
T unit(uint64_t bits) {  // [0, 1), as finely as T can be even
  constexpr int digits = std::is_same_v<T, float> ? 24 : 53;
  return static_cast<T>(bits >> (64 - digits)) * (T(1) / T(uint64_t{1} << digits));
}

// y[i] = value(bits of the i-th next position). Positions are made some at a time, in a loop of its own that
// the compiler turns into vector code.
template <class T, class F>
void fill_random(const Tensor& y, Generator* generator, const F& value) {
  if (!generator) generator = &default_generator();
  const int64_t count = y.numel();
  const uint64_t first = generator->reserve(static_cast<uint64_t>(count));
  T* out = y.mutable_data<T>();
  parallel_for(count, 16384, [&, source = *generator](int64_t begin, int64_t end) {
    constexpr int64_t kAtOnce = 128;
    std::array<uint64_t, 2 * kAtOnce> bits{};
    while (begin < end) {
      const uint64_t position = first + static_cast<uint64_t>(begin);
      const int64_t skip = static_cast<int64_t>(position % 2);
      const int64_t n = std::min(end - begin, 2 * kAtOnce - skip);
      for (uint64_t i = 0; i < static_cast<uint64_t>(skip + n + 1) / 2; ++i)
        std::tie(bits[2 * i], bits[2 * i + 1]) = block_of(source, position / 2 + i);
      for (int64_t i = 0; i < n; ++i) out[begin + i] = value(bits[static_cast<size_t>(skip + i)]);
      begin += n;
    }
  });
}

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  return ten_rounds(counter, key);
}

// The stream of a part is a mix of its parent's and k (the finaliser of SplitMix64, which is one to one).
Generator Generator::split(uint64_t k) const {
  uint64_t mix = stream_ + (k + 1) * 0x9E3779B97F4A7C15;
  mix = (mix ^ (mix >> 30)) * 0xBF58476D1CE4E5B9;
  mix = (mix ^ (mix >> 27)) * 0x94D049BB133111EB;
  return Generator(seed_, mix ^ (mix >> 31));
}

uint64_t Generator::bits(uint64_t position) const {
  const auto [even, odd] = block_of(*this, position / 2);
  return position % 2 ? odd : even;
}

double Generator::uniform() { return unit<double>(bits(reserve(1))); }

int64_t Generator::integer(int64_t low, int64_t high) {
  check(low < high, "integer: there is no integer from ", low, " to below ", high);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + below(range, bits(reserve(1))));
}

Generator& default_generator() {
  static thread_local Generator generator;
  return generator;
}

void manual_seed(uint64_t seed) { default_generator() = Generator(seed); }

Tensor rand(const Shape& shape, DType dtype, Generator* generator) {
  Tensor y = Tensor::empty(shape, dtype);
  visit_floating(dtype, [&]<class T>(Type<T>) { fill_random<T>(y, generator, unit<T>); });
  return y;
}

// Box and Muller: with u, v uniform in (0, 1], sqrt(-2 log u) cos(2 pi v) is normal. u and v are the two
// halves of one position's bits.
Tensor randn(const Shape& shape, DType dtype, Generator* generator) {
  Tensor y = Tensor::empty(shape, dtype);
  visit_floating(dtype, [&]<class T>(Type<T>) {
    fill_random<T>(y, generator, [](uint64_t bits) {
      const T u = (T(high_half(bits)) + T(1)) * T(0x1p-32);
      const T v = (T(low_half(bits)) + T(1)) * T(0x1p-32);
      return std::sqrt(T(-2) * std::log(u)) * std::cos(T(2) * std::numbers::pi_v<T> * v);
    });
  });
  return y;
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, Generator* generator) {
  check(low < high, "randint: there is no integer from ", low, " to below ", high);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  Tensor y = Tensor::empty(shape, int64);
  fill_random<int64_t>(y, generator, [=](uint64_t bits) {
    return static_cast<int64_t>(static_cast<uint64_t>(low) + below(range, bits));
  });
  return y;
}

// Fisher and Yates: each place from the last down swaps with one of those before it or itself.
Tensor randperm(int64_t n, Generator* generator) {
  if (!generator) generator = &default_generator();
  Tensor y = arange(0, static_cast<double>(n), 1, int64);
  auto* out = y.mutable_data<int64_t>();
  for (int64_t i = n - 1; i > 0; --i) std::swap(out[i], out[generator->integer(0, i + 1)]);
  return y;
}

}  // namespace heed
