#include "tensor/version.h"

#include <doctest/doctest.h>

#include "tensor/parallel.h"

using namespace heed;

TEST_CASE("build_info says what runs here") {
  const std::string info = build_info();
  CHECK(info.starts_with("heed 0."));
  CHECK(info.find(", OpenBLAS 0.") != std::string::npos);
  CHECK(info.find(" openmp ") != std::string::npos);
  const std::string threads =
      num_threads() == 1 ? ", 1 thread" : ", " + std::to_string(num_threads()) + " threads";
  CHECK(info.ends_with(threads));
  CHECK(info.find('\n') == std::string::npos);
}
