#include "tensor/version.h"

#include "tensor/kernels/blas.h"
#include "tensor/kernels/level.h"
#include "tests/support/expect.h"

TEST_CASE("version_text names the version, level, libraries and threads") {
  const std::string one = [] {
    const Threads threads(1);
    return heed::version_text();
  }();
  CHECK(one.starts_with("heed 0."));
  CHECK(contains(one, kernel::level_info()));
  if (kernel::kHasBlas) CHECK(contains(one, ", OpenBLAS 0."));
  CHECK(one.ends_with(", 1 thread"));
  CHECK(one.find('\n') == std::string::npos);
  const Threads threads(3);
  CHECK(heed::version_text().ends_with(", 3 threads"));
}
