#include "tensor/kernels/philox.h"

#include "tests/support/expect.h"

TEST_CASE("random_bits: 64 positions at once have the bits of each alone") {
  const Generator generator(7, 3);
  for (const uint64_t block : {uint64_t{0}, uint64_t{1} << 31, (uint64_t{1} << 32) - 5, uint64_t{1} << 62}) {
    const auto bits = kernel::random_bits(generator, block);
    for (uint64_t i = 0; i < bits.size(); ++i) CHECK(bits[i] == generator.bits(2 * block + i));
  }
}
