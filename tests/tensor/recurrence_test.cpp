#include "tensor/recurrence.h"

#include <doctest/doctest.h>

using namespace heed;

TEST_CASE("the number of gates of each kind of recurrence") {
  CHECK(gate_count(Recurrence::rnn_tanh) == 1);
  CHECK(gate_count(Recurrence::rnn_relu) == 1);
  CHECK(gate_count(Recurrence::gru) == 3);
  CHECK(gate_count(Recurrence::lstm) == 4);
}
