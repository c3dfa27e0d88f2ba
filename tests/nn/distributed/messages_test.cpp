#include "nn/distributed/messages.h"

#include <cstdlib>

#include "tests/support/expect.h"
#include "tests/support/program.h"

// Messages between several processes are tested by processes_test.cpp.

TEST_CASE("Messages: one process sends nothing") {
  detail::Messages messages(1, 1);
  CHECK(messages.rank() == 0);
  CHECK(messages.size() == 1);
  CHECK(messages.name(0) == "process 0 of 1");
  CHECK(messages.gather(3) == std::vector<int>{3});
  messages.wait(detail::Transfers());
  messages.end();
  CHECK(messages.size() == 1);
}

TEST_CASE("Messages: a wait ends at the deadline") {
  int polls = 0;
  detail::Messages(1, 600).wait([&] { return ++polls == 3; });
  CHECK(polls == 3);
  const detail::Messages messages(1, 0.01);
  const auto never = [] { return false; };
  CHECK_ERROR_HAS(messages.wait(never), "process 0 of 1 has waited 0.01 s for others, which are alive");
}

#ifndef HEED_MPI
TEST_CASE("Messages: several processes without MPI") {
  CHECK(in_child([] {
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    try {
      detail::Messages messages(1, 1);
    } catch (const Error& error) {
      return contains(error.what(), "heed was built without MPI");
    }
    return false;
  }));
}
#endif
