#include "autograd/gradient_slot.h"

#include <thread>

#include "tests/support/expect.h"

TEST_CASE("a gradient with a history is freed together with its tensor") {
  const size_t before = memory_use().live;
  for (size_t kept = 0; kept < 32; ++kept) {
    CAPTURE(kept);
    Tensors keep;
    std::weak_ptr<int> node_of_x;
    {
      const auto token = std::make_shared<int>();
      node_of_x = token;
      const Tensor x = rand({8192}, float64).requires_grad_();  // a block that memory_use counts
      x.register_hook([token](const Tensor&) { return Tensor(); });
      const Tensor h = x * x;
      h.retain_grad();
      const Tensor u = h * h * h * x, loss = sum(u * u);
      loss.backward(Tensor(), false, true);
      grad(loss, {x}, true);  // added to the gradient of h
      REQUIRE((x.grad().requires_grad() && h.grad().requires_grad()));
      h.set_grad(h.grad() * h);
      const Tensor all[] = {x, h, loss, x.grad(), h.grad()};
      for (size_t i = 0; i < 5; ++i)
        if (kept >> i & 1) keep.push_back(all[i]);
    }
    CHECK(node_of_x.expired() == keep.empty());
    keep.clear();
    CHECK(node_of_x.expired());
    CHECK(memory_use().live == before);
  }
}

TEST_CASE("second derivatives do not need a released tensor that retained its gradient") {
  const Tensor x = leaf(3);
  Tensor y = x * 2;
  y.retain_grad();
  const Tensor z = y * y * y;
  y = Tensor();
  const Tensor first = grad(z, {x}, true)[0];
  CHECK(first.item() == 24 * 3 * 3);
  CHECK(grad(first, {x})[0].item() == 48 * 3);
}

TEST_CASE("a gradient with a history that could never be freed throws") {
  const Tensor x = leaf({1, 2}), constant = leaf({3, 4}).detach();
  const Tensor h = x * constant, y = sum(h * h);  // saves h
  h.retain_grad();
  CHECK_ERROR_HAS(grad(y, {x}, true),
                  "mul: the gradient of a tensor of shape [2] has a history and could never be freed, "
                  "because an operation had saved the tensor before retain_grad() was called; call it before "
                  "the tensor is used, or use grad(outputs, {tensor}, true) instead");
  CHECK_FALSE(h.grad().defined());
  constant.requires_grad_();  // the rule of h has its own copy of the handle
  grad(sum(h * constant), {constant}, true);
  y.backward();  // a gradient without a history is retained as usual
  CHECK(values(h.grad()) == Values{6, 16});

  const Tensor once = tensor({3, 4}, float64);
  sum(x * once).backward();  // saved and released
  once.requires_grad_();
  sum(once * once).backward(Tensor(), false, true);
  CHECK(once.grad().requires_grad());
}

TEST_CASE("a tensor may be freed while a thread adds to its gradient" * doctest::test_suite("threads")) {
  const size_t before = memory_use().live;
  for (int round = 0; round < 100; ++round) {
    Tensor x = rand({8192}, float64).requires_grad_();
    Tensor y = sum(x * x * x);
    std::thread other([y = std::move(y)] { y.backward(Tensor(), false, true); });
    x = Tensor();
    other.join();
  }
  CHECK(memory_use().live == before);
}
