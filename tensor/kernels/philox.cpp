#include "tensor/kernels/philox.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "tensor/kernels/outer_inner.h"

namespace heed::kernel {

using Words = Simd<uint64_t>::Values;

// One instruction where g++ makes three or more of the formula. AVX alone has none for its registers.
#if defined(__AVX2__) || (defined(__SSE2__) && !defined(__AVX__))
template <>
Words word_product(const Words& words, uint32_t factor) {
  const Words factors = Words{} + factor;
#if defined(__AVX512F__)  // the masked form, because g++ 12 warns about the plain one
  return Words(_mm512_maskz_mul_epu32(0xff, __m512i(words), __m512i(factors)));
#elif defined(__AVX2__)
  return Words(_mm256_mul_epu32(__m256i(words), __m256i(factors)));
#else
  return Words(_mm_mul_epu32(__m128i(words), __m128i(factors)));
#endif
}
#endif

std::array<uint64_t, 64> random_bits(const Generator& generator, uint64_t block) {
  std::array<uint64_t, 32> blocks, even, odd;
  for (size_t i = 0; i < 32; ++i) blocks[i] = block + i;
  for (size_t i = 0; i < 32; i += Simd<uint64_t>::size) {
    const Bits<Words> bits(generator, Simd<uint64_t>::load(&blocks[i]));
    Simd<uint64_t>::store(&even[i], bits.even);
    Simd<uint64_t>::store(&odd[i], bits.odd);
  }
  std::array<uint64_t, 64> y;
  for (size_t i = 0; i < 32; ++i) {
    y[2 * i] = even[i];
    y[2 * i + 1] = odd[i];
  }
  return y;
}

}  // namespace heed::kernel
