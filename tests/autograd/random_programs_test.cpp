#include <random>

#include "tests/support/expect.h"
#include "tests/support/random_program.h"

static void check_program(uint64_t seed) {
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::string wrong = wrong_program(std::ref(random), seed % 2, seed / 2);
  REQUIRE_MESSAGE(wrong.empty(), wrong);
}

TEST_CASE("random programs: values and gradients equal those of a plain interpreter") {
  for (uint64_t seed = 0; seed < 100; ++seed) check_program(seed);
}

TEST_CASE("two thousand more random programs" * doctest::test_suite("slow")) {
  for (uint64_t seed = 100; seed < 2100; ++seed) check_program(seed);
}
