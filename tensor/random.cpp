#include "tensor/random.h"

#include <numbers>

#include "tensor/create.h"
#include "tensor/kernels/math.h"
#include "tensor/parallel.h"

namespace heed {
namespace {

constexpr uint32_t low_half(uint64_t x) { return static_cast<uint32_t>(x); }
constexpr uint32_t high_half(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

template <size_t Lanes>
using Counters = std::array<std::array<uint32_t, Lanes>, 4>;

// Philox for `Lanes` counters at once, word by word, so that the loops over lanes become vector code. In each
// round two words give 64-bit products, whose halves are mixed with the other words and the key.
template <size_t Lanes>
void mix(Counters<Lanes>& counters, std::array<uint32_t, 2> key) {
  auto& [c0, c1, c2, c3] = counters;
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < Lanes; ++i) {
      const uint64_t a = uint64_t{0xD2511F53} * c0[i], b = uint64_t{0xCD9E8D57} * c2[i];
      c0[i] = high_half(b) ^ c1[i] ^ key[0];
      c1[i] = low_half(b);
      c2[i] = high_half(a) ^ c3[i] ^ key[1];
      c3[i] = low_half(a);
    }
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
}

// Bits of positions 2 block, 2 block + 1, ...: the seed is the key, the counter is the block and the stream.
template <size_t Lanes>
std::array<uint64_t, 2 * Lanes> bits_from(const Generator& generator, uint64_t block) {
  Counters<Lanes> counters;
  auto& [c0, c1, c2, c3] = counters;
  for (size_t i = 0; i < Lanes; ++i) {
    c0[i] = low_half(block + i);
    c1[i] = high_half(block + i);
    c2[i] = low_half(generator.stream());
    c3[i] = high_half(generator.stream());
  }
  mix(counters, {low_half(generator.seed()), high_half(generator.seed())});
  std::array<uint64_t, 2 * Lanes> bits;
  for (size_t i = 0; i < Lanes; ++i) {
    bits[2 * i] = uint64_t{c1[i]} << 32 | c0[i];
    bits[2 * i + 1] = uint64_t{c3[i]} << 32 | c2[i];
  }
  return bits;
}

// 64 random bits as a whole number in [low, high): low and the upper half of (high - low) bits. Some numbers come
// more often than others, by less than (high - low) / 2^64.
auto integers(const char* op, int64_t low, int64_t high) {
  check(low < high, op, ": there is no integer from ", low, " to below ", high);
  const auto first = static_cast<uint64_t>(low), range = static_cast<uint64_t>(high) - first;
  return [first, range](uint64_t bits) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<int64_t>(first + static_cast<uint64_t>((Wide{range} * bits) >> 64));
  };
}

template <class T>
T unit(uint64_t bits) {  // [0, 1), as finely as T can be even
  constexpr int digits = std::is_same_v<T, float> ? 24 : 53;
  using Signed = std::conditional_t<std::is_same_v<T, float>, int32_t, int64_t>;  // quicker to convert
  return static_cast<T>(static_cast<Signed>(bits >> (64 - digits))) * (T(1) / T(uint64_t{1} << digits));
}

// A tensor whose element i is value(bits of the i-th position from here on).
template <class T, class F>
Tensor draw(const Shape& shape, Generator* generator, const F& value) {
  Tensor y = Tensor::empty(shape, dtype_of<T>);
  if (!generator) generator = &default_generator();
  const int64_t count = y.numel();
  const uint64_t first = generator->reserve(static_cast<uint64_t>(count));
  T* out = y.mutable_data<T>();
  parallel_for(count, 16384, [&, source = *generator](int64_t begin, int64_t end) {
    constexpr size_t kLanes = 32;
    while (begin < end) {
      const uint64_t position = first + static_cast<uint64_t>(begin);
      const auto bits = bits_from<kLanes>(source, position / 2);
      const auto skip = static_cast<int64_t>(position % 2);
      const int64_t n = std::min<int64_t>(end - begin, 2 * kLanes - skip);
      for (int64_t i = 0; i < n; ++i) out[begin + i] = value(bits[static_cast<size_t>(skip + i)]);
      begin += n;
    }
  });
  return y;
}

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  const auto [c0, c1, c2, c3] = counter;
  Counters<1> one{{{c0}, {c1}, {c2}, {c3}}};
  mix(one, key);
  return {one[0][0], one[1][0], one[2][0], one[3][0]};
}

// The stream of a part is a mix of its parent's and k (the finaliser of SplitMix64, which is one to one).
Generator Generator::split(uint64_t k) const {
  uint64_t mix = stream_ + (k + 1) * 0x9E3779B97F4A7C15;
  mix = (mix ^ (mix >> 30)) * 0xBF58476D1CE4E5B9;
  mix = (mix ^ (mix >> 27)) * 0x94D049BB133111EB;
  return Generator(seed_, mix ^ (mix >> 31));
}

uint64_t Generator::bits(uint64_t position) const { return bits_from<1>(*this, position / 2)[position % 2]; }

double Generator::uniform() { return unit<double>(bits(reserve(1))); }

int64_t Generator::integer(int64_t low, int64_t high) {
  return integers("integer", low, high)(bits(reserve(1)));
}

Generator& default_generator() {
  static thread_local Generator generator;
  return generator;
}

void manual_seed(uint64_t seed) { default_generator() = Generator(seed); }

Tensor rand(const Shape& shape, DType dtype, Generator* generator, Line line) {
  const Calling here("rand", line);
  return visit_floating(dtype, [&]<class T>(Type<T>) {
    return draw<T>(shape, generator, [](uint64_t bits) { return unit<T>(bits); });
  });
}

// Box and Muller: with u, v uniform in (0, 1], sqrt(-2 log u) cos(2 pi v) is normal. u and v are the two
// halves of one position's bits.
Tensor randn(const Shape& shape, DType dtype, Generator* generator, Line line) {
  const Calling here("randn", line);
  return visit_floating(dtype, [&]<class T>(Type<T>) {
    return draw<T>(shape, generator, [](uint64_t bits) {
      const T u = (T(high_half(bits)) + T(1)) * T(0x1p-32);
      const T v = (T(low_half(bits)) + T(1)) * T(0x1p-32);
      return std::sqrt(T(-2) * math::log(u)) * std::cos(T(2) * std::numbers::pi_v<T> * v);
    });
  });
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, Generator* generator, Line line) {
  const Calling here("randint", line);
  return draw<int64_t>(shape, generator, integers("randint", low, high));
}

// Fisher and Yates: each place from the last down swaps with one of those before it or itself.
Tensor randperm(int64_t n, Generator* generator, Line line) {
  const Calling here("randperm", line);
  check(n >= 0, "n is ", n, "; it must not be negative");
  if (!generator) generator = &default_generator();
  Tensor y = arange(n, int64);
  auto* out = y.mutable_data<int64_t>();
  for (int64_t i = n - 1; i > 0; --i) std::swap(out[i], out[generator->integer(0, i + 1)]);
  return y;
}

}  // namespace heed
