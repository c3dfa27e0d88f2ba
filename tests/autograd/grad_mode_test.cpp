#include "autograd/grad_mode.h"

#include <thread>

#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("recording is switched by scopes, and restored by an error too") {
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

TEST_CASE("each thread has its own") {
  const NoGrad off;
  bool elsewhere = false;
  std::thread([&] { elsewhere = grad_enabled(); }).join();
  CHECK(elsewhere);
  CHECK_FALSE(grad_enabled());
}
