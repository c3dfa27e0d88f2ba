#include "tensor/reference.h"

#include "tensor/kernels/plain.h"
#include "tests/support/references.h"

TEST_CASE("reference mode applies to the process and runs the plain loops") {
  const Reference on(true);
  CHECK(reference_mode());
  const Tensor a = randn({40, 30}), b = randn({30, 20});
  CHECK(values(matmul(a, b)) == values(kernel::plain::matmul(a, b, {}, 1)));
  {
    const Reference off(false);
    CHECK(!reference_mode());
  }
  CHECK(reference_mode());
}
