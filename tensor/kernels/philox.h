#pragma once

#include "tensor/random.h"

/// Random bits by Philox-4x32-10 (Salmon et al., 2011).
namespace heed::kernel {

constexpr uint32_t low_half(uint64_t x) { return static_cast<uint32_t>(x); }
constexpr uint32_t high_half(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

/// Words of 32 bits, each in the low half of 64 bits; the high half may hold anything. A Word is one of them
/// or a vector.
template <class Word>
using Counter = std::array<Word, 4>;

/// The 64-bit products of words and a factor.
template <class Word>
Word word_product(const Word& words, uint32_t factor) {
  return (words & 0xffffffff) * factor;
}

/// In each round the halves of two 64-bit products are mixed with the other words and the key.
template <class Word>
void mix(Counter<Word>& c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const Word a = word_product(c[0], 0xD2511F53), b = word_product(c[2], 0xCD9E8D57);
    c = {(b >> 32) ^ c[1] ^ key[0], b, (a >> 32) ^ c[3] ^ key[1], a};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
}

/// The bits at positions 2 block and 2 block + 1. The key is the seed, the counter the block and the stream.
template <class Word>
struct Bits {
  Word even, odd;
  Bits(const Generator& generator, const Word& block) {
    const Word zero{};
    Counter<Word> c{block, block >> 32, zero + low_half(generator.stream()),
                    zero + high_half(generator.stream())};
    mix(c, {low_half(generator.seed()), high_half(generator.seed())});
    even = c[1] << 32 | (c[0] & 0xffffffff);
    odd = c[3] << 32 | (c[2] & 0xffffffff);
  }
};

/// The bits at positions 2 block, 2 block + 1, ...
std::array<uint64_t, 64> random_bits(const Generator& generator, uint64_t block);

}  // namespace heed::kernel
