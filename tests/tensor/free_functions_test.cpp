#include "tensor/free_functions.h"

#include "tests/support/compile.h"
#include "tests/support/expect.h"

TEST_CASE("operations as members are compile errors that name the free function") {
  const Texts errors = compile_errors(R"(
#include "tensor/tensor.h"
using namespace heed;
Tensor f(const Tensor& x) { return x.sum(0, true); }
Tensor g(const Tensor& x) { return x.view({2, 3}); }
TensorImpl& h(const Tensor& x) { return x.body(); }
)");
  REQUIRE(errors.size() == 3);
  CHECK(contains(errors[0], "private"));
  CHECK(contains(errors[1], "operations are free functions: sum(x, ...), not x.sum(...)"));
  CHECK(contains(errors[2], "operations are free functions: view(x, {...}), not x.view(...)"));
}
