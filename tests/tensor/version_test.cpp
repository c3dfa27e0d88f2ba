#include "tensor/version.h"

#include "tensor/kernels/blas.h"
#include "tensor/kernels/level.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

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

TEST_CASE("HEED_VERSION is made of its three numbers") {
  const auto numbers = {HEED_VERSION_MAJOR, HEED_VERSION_MINOR, HEED_VERSION_PATCH};
  std::string joined;
  for (const int number : numbers) joined += (joined.empty() ? "" : ".") + std::to_string(number);
  CHECK(joined == HEED_VERSION);
  const std::string port = read_file(HEED_SOURCE_DIR "/cmake/vcpkg/heed/vcpkg.json");
  CHECK(contains(port, "\"version\": \"" HEED_VERSION "\""));
}
