#include "tensor/kernels/level.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

TEST_CASE("at_level: a formula gives the bits of the kernels") {
  const Tensor x = randn({1000}), y = zeros({1000});
  const float* from = x.data<float>();
  auto* to = y.mutable_data<float>();
  kernel::at_level([&] {
    for (int64_t i = 0; i < 1000; ++i) to[i] = 2 * from[i] + 1;
  });
  CHECK(values(y) == values(2 * x + 1));
}

#if defined(HEED_LEVELS)
TEST_CASE("HEED_LEVEL: the level is the one asked for, and one that cannot be had ends the program") {
  const char* const asked = std::getenv("HEED_LEVEL");
  if (asked) CHECK(kernel::level_info() == "x86-64-" + std::string(asked));
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const Run none = run_shell("HEED_LEVEL=v9 '" + self + "' --version");
  CHECK(none.code == 2);
  CHECK(contains(none.err, "HEED_LEVEL is \"v9\"; this processor has v2"));
  CHECK(run_shell("HEED_LEVEL=v2 '" + self + "' --version").code == 0);
}
#endif
