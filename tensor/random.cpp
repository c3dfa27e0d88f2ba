#include "tensor/random.h"

#include <numbers>

#include "tensor/create.h"
#include "tensor/kernels/loop.h"
#include "tensor/kernels/math.h"
#include "tensor/kernels/philox.h"
#include "tensor/parallel.h"

namespace heed {

using kernel::at_level, kernel::high_half, kernel::low_half, kernel::random_bits;

namespace {

// Maps 64 random bits to an integer in [low, high): low plus the upper half of (high - low) bits. The
// probabilities of the integers differ by at most 2^-64.
auto integers(const char* op, int64_t low, int64_t high) {
  check_in(op, low < high, "there is no integer from ", low, " to below ", high);
  const auto first = static_cast<uint64_t>(low), range = static_cast<uint64_t>(high) - first;
  return [first, range](uint64_t bits) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<int64_t>(first + static_cast<uint64_t>((Wide{range} * bits) >> 64));
  };
}

template <class T>
T unit(uint64_t bits) {  // in [0, 1), a multiple of 2^-digits
  constexpr int digits = std::is_same_v<T, float> ? 24 : 53;
  using Signed = std::conditional_t<std::is_same_v<T, float>, int32_t, int64_t>;  // faster to convert
  return static_cast<T>(static_cast<Signed>(bits >> (64 - digits))) * (T(1) / T(uint64_t{1} << digits));
}

// out_i = value(word first + i), where words 0, 1, ... are the bits at positions 0, 1, ... of the generator.
template <class Word>
void draw_words(const Generator& source, uint64_t first, int64_t n, auto* out, const auto& value) {
  constexpr uint64_t per_block = 16 / sizeof(Word);
  using Words = std::array<Word, 32 * per_block>;
  for (int64_t some; n > 0; n -= some, first += static_cast<uint64_t>(some), out += some) {
    const auto words = std::bit_cast<Words>(random_bits(source, first / per_block));
    const uint64_t skip = first % per_block;
    some = std::min(n, static_cast<int64_t>(words.size() - skip));
    at_level([&] {
      HEED_VECTORIZE
      for (int64_t i = 0; i < some; ++i) out[i] = value(words[skip + static_cast<size_t>(i)]);
    });
  }
}

// A tensor whose element i is value(bits at the i-th position from the generator's).
template <class T, class F>
Tensor draw(const Shape& shape, Generator* generator, const F& value) {
  Tensor y = Tensor::empty(shape, dtype_of<T>);
  if (!generator) generator = &default_generator();
  const uint64_t first = generator->reserve(static_cast<uint64_t>(y.numel()));
  T* out = y.mutable_data<T>();
  parallel_for(y.numel(), 16384, [=, source = *generator](int64_t begin, int64_t end) {
    draw_words<uint64_t>(source, first + static_cast<uint64_t>(begin), end - begin, out + begin, value);
  });
  return y;
}

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  kernel::Counter<uint64_t> c{counter[0], counter[1], counter[2], counter[3]};
  kernel::mix(c, key);
  return {low_half(c[0]), low_half(c[1]), low_half(c[2]), low_half(c[3])};
}

// The new stream is a mix of the old one and k (the finalizer of SplitMix64, which is a bijection).
Generator Generator::split(uint64_t k) const {
  uint64_t mix = stream_ + (k + 1) * 0x9E3779B97F4A7C15;
  mix = (mix ^ (mix >> 30)) * 0xBF58476D1CE4E5B9;
  mix = (mix ^ (mix >> 27)) * 0x94D049BB133111EB;
  return Generator(seed_, mix ^ (mix >> 31));
}

uint64_t Generator::bits(uint64_t position) const {
  const kernel::Bits<uint64_t> bits(*this, position / 2);
  return position % 2 ? bits.odd : bits.even;
}

double Generator::uniform() { return unit<double>(bits(reserve(1))); }

int64_t Generator::integer(int64_t low, int64_t high) {
  return integers("integer", low, high)(bits(reserve(1)));
}

Generator& default_generator() {
  static thread_local Generator generator;
  return generator;
}

DropoutFactors::DropoutFactors(double p, int64_t count, Generator* generator) : p_(p) {
  check(p >= 0 && p <= 1, "p is ", p, "; a probability lies in [0, 1]");
  if (!generator) generator = &default_generator();
  source_ = *generator;
  generator->reserve(static_cast<uint64_t>(count + 1) / 2);
}

// Each position gives two factors, from 32 bits each.
template <class T>
void DropoutFactors::draw(int64_t begin, int64_t n, T* out) const {
  const auto dropped = static_cast<uint32_t>(p_ * 0xffffffff);  // about p 2^32 of all words
  const T kept = static_cast<T>(p_ < 1 ? 1 / (1 - p_) : 0);
  draw_words<uint32_t>(source_, 2 * source_.position() + static_cast<uint64_t>(begin), n, out,
                       [=](uint32_t word) { return kept * T(word >= dropped); });
}
template void DropoutFactors::draw(int64_t, int64_t, float*) const;
template void DropoutFactors::draw(int64_t, int64_t, double*) const;

Tensor rand(const Shape& shape, DType dtype, Generator* generator, SourceLocation line) {
  const OpScope scope("rand", line);
  return visit_floating(dtype, [&]<class T>(Type<T>) {
    return draw<T>(shape, generator, [](uint64_t bits) { return unit<T>(bits); });
  });
}

// Box and Muller: if u and v are uniform in (0, 1], sqrt(-2 log u) cos(2 pi v) is normal. u and v come from
// the two halves of the bits at one position.
Tensor randn(const Shape& shape, DType dtype, Generator* generator, SourceLocation line) {
  const OpScope scope("randn", line);
  return visit_floating(dtype, [&]<class T>(Type<T>) {
    return draw<T>(shape, generator, [](uint64_t bits) {
      const T u = (T(high_half(bits)) + T(1)) * T(0x1p-32);
      const T v = (T(low_half(bits)) + T(1)) * T(0x1p-32);
      return std::sqrt(T(-2) * math::log(u)) * std::cos(T(2) * std::numbers::pi_v<T> * v);
    });
  });
}

Tensor dropout_mask(const Shape& shape, const DropoutFactors& factors, DType dtype, SourceLocation line) {
  const OpScope scope("dropout_mask", line);
  Tensor y = Tensor::empty(shape, dtype);
  visit_floating(dtype, [&]<class T>(Type<T>) {
    T* out = y.mutable_data<T>();
    parallel_for(y.numel(), 16384,
                 [&](int64_t begin, int64_t end) { factors.draw(begin, end - begin, out + begin); });
  });
  return y;
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, Generator* generator, SourceLocation line) {
  const OpScope scope("randint", line);
  return draw<int64_t>(shape, generator, integers("randint", low, high));
}

// Fisher and Yates: each position, from the last down, swaps with a random one before it or itself.
Tensor randperm(int64_t n, Generator* generator, SourceLocation line) {
  const OpScope scope("randperm", line);
  check(n >= 0, "n is ", n, "; it must not be negative");
  if (!generator) generator = &default_generator();
  Tensor y = arange(n, int64);
  auto* out = y.mutable_data<int64_t>();
  for (int64_t i = n - 1; i > 0; --i) std::swap(out[i], out[generator->integer(0, i + 1)]);
  return y;
}

}  // namespace heed
