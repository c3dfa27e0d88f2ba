#include "tensor/single_threaded.h"

#include <doctest/doctest.h>

#include <thread>

TEST_CASE("single_threaded: false while there is another thread") {
  bool seen = true;
  std::thread([&] { seen = heed::single_threaded(); }).join();
  CHECK_FALSE(seen);
}
