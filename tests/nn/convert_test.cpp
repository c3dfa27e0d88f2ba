#include "nn/parameter.h"
#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("to_ converts a tensor and its gradient in place") {
  Parameter a(tensor({0.5f, 2}));
  const Tensor held = a;
  const Tensor y = a * a;
  a.set_grad(tensor({1, 3}));
  a.to_(float64);
  CHECK(held.dtype() == float64);
  CHECK(held.grad().dtype() == float64);
  CHECK(values(held) == Values{0.5, 2});
  CHECK(values(held.grad()) == Values{1, 3});
  CHECK_THROWS_AS(y.backward(tensor({1, 1})), Error);
  CHECK_ERROR(a.to_(int64),
              "to: a float64 member of a module cannot become int64; only floating ones change, to float32 "
              "or float64");
}
