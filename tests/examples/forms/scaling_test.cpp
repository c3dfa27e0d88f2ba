#include "examples/forms/scaling.h"

#include <cmath>

#include "tests/support/expect.h"

TEST_CASE("scaling: memory grows as in theory") {
  for (const std::string name : {"softmax", "sigmoid", "linear"}) {
    CAPTURE(name);
    const program::Form& form = program::find_form(name);
    const program::FormScaling scaling = program::measure_scaling(form, {128, 256, 512}, 1);
    CHECK(scaling.seconds.size() == 3);
    CHECK(std::isfinite(scaling.time));
    CHECK(scaling.memory == doctest::Approx(form.memory).epsilon(0.3));
  }
  CHECK_ERROR_HAS(program::measure_scaling(program::find_form("nope"), {8, 16}), "at least 3 lengths");
}
