#include "autograd/rule_table.h"

#include "tests/support/expect.h"

TEST_CASE("rules with one or two arguments and closures of any size") {
  const Tensor x = leaf({1, 2});
  struct Large {
    double weights[33];
  } large{};
  large.weights[32] = 5;
  Tensor seen;
  const Tensor y = record("both", fresh(x * 3),
                          {{x, [large](const Tensor& g) { return g * large.weights[32]; }},
                           {x, [&seen](const Tensor& g, const Tensor& result) {
                              seen = result;
                              return g * result;
                            }}});
  sum(y).backward();
  CHECK(values(seen) == Values{3, 6});
  CHECK(values(x.grad()) == Values{5 + 3, 5 + 6});

  // An undefined gradient is zero.
  const Tensor z = record("none", fresh(x), {{x, [](const Tensor&) { return Tensor(); }}});
  CHECK_FALSE(grad({sum(z)}, {x}, {.allow_unused = true})[0].defined());
}
