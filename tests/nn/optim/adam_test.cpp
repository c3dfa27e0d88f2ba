#include "nn/optim/optimizer.h"

#include <doctest/doctest.h>

#include "autograd/ops.h"
#include "tensor/parallel.h"

using namespace heed;

TEST_CASE("Adam: the first step is lr in the direction of the gradient, whatever its size") {
  const Tensor p = from_vector<double>({1, 1, 1}, {3}).requires_grad_();
  Adam optimizer({p}, {.lr = 0.5, .eps = 0});
  p.set_grad(from_vector<double>({1e-9, -4, 1e9}, {3}));
  optimizer.step();
  for (const double moved : (p - from_vector<double>({0.5, 1.5, 0.5}, {3})).to_vector<double>())
    CHECK(std::abs(moved) < 1e-12);
}

TEST_CASE("AdamW: decay shrinks the parameter itself and is 0.01 unless said otherwise") {
  const Tensor p = full({1}, 2, float64).requires_grad_(), q = full({1}, 2, float64).requires_grad_();
  AdamW optimizer({{{p}, {.lr = 0.1, .weight_decay = 0.5}}, {{q}, {.lr = 0.1}}});
  p.set_grad(zeros({1}, float64));
  q.set_grad(zeros({1}, float64));
  optimizer.step();
  CHECK(p.item() == doctest::Approx(2 * (1 - 0.1 * 0.5)).epsilon(1e-15));
  CHECK(q.item() == doctest::Approx(2 * (1 - 0.1 * 0.01)).epsilon(1e-15));
}

TEST_CASE("Adam: options that cannot be") {
  const Tensor p = full({1}, 2).requires_grad_();
  CHECK_THROWS_WITH(Adam({p}, {.betas = {0.9, 1}}),
                    "Adam: betas are 0.9 and 1; each must be at least 0 and below 1");
  CHECK_THROWS_WITH(AdamW({p}, {.eps = -1}),
                    "AdamW: lr 0.001, eps -1, weight_decay 0.01; none may be negative");
}

TEST_CASE("Adam: the same bits on any number of threads" * doctest::test_suite("threads")) {
  const auto run = [](int threads) {
    set_num_threads(threads);
    const Tensor p = full({100'003}, 0.5).requires_grad_();
    Adam optimizer({p}, {.weight_decay = 0.1});
    for (int step = 1; step < 4; ++step) {
      p.set_grad(arange(0, 100'003) * (1e-5 * step));
      optimizer.step();
    }
    return p.to_vector<float>();
  };
  const auto one = run(1);
  for (const int threads : {2, 3, 7}) CHECK(run(threads) == one);
  set_num_threads(1);
}
