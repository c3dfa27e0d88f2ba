#include "autograd/grad_mode.h"

#include <future>

#include "tests/support/expect.h"

TEST_CASE("scopes switch recording and restore it, also after an exception") {
  const Tensor x = ones({2}).requires_grad_();
  CHECK(grad_enabled());
  CHECK((x * 2).requires_grad());
  {
    const NoGrad off;
    CHECK_FALSE(grad_enabled());
    CHECK_FALSE((x * 2).requires_grad());
    CHECK(x.requires_grad());
    {
      const GradMode on(true);
      CHECK((x * 2).requires_grad());
      const NoGrad off_again;
      CHECK_FALSE(grad_enabled());
    }
    CHECK_FALSE(grad_enabled());
  }
  CHECK(grad_enabled());
  CHECK_THROWS_AS(([&] {
                    const NoGrad off;
                    x + ones({3});
                  }()),
                  Error);
  CHECK(grad_enabled());
}

TEST_CASE("each thread has its own recording mode") {
  const NoGrad off;
  CHECK(std::async(std::launch::async, grad_enabled).get());
  CHECK_FALSE(grad_enabled());
}
