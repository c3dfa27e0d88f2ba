#include "tensor/version.h"

#include "tests/support/expect.h"

TEST_CASE("build_info names the version, libraries and threads") {
  const std::string one = [] {
    const Threads threads(1);
    return heed::build_info();
  }();
  CHECK(one.starts_with("heed 0."));
  CHECK(contains(one, ", OpenBLAS 0."));
  CHECK(contains(one, " openmp "));
  CHECK(one.ends_with(", 1 thread"));
  CHECK(one.find('\n') == std::string::npos);
  const Threads threads(3);
  CHECK(heed::build_info().ends_with(", 3 threads"));
}
