// The members of Tensor that autograd/tensor.cpp defines.

#include "tests/support/expect.h"

TEST_CASE("leaves are tensors that no operation computed") {
  const Tensor x = ones({2});
  CHECK(x.is_leaf());
  CHECK_FALSE(x.requires_grad());
  CHECK_FALSE(x.grad().defined());
  CHECK(x.requires_grad_().same_as(x));
  CHECK(x.requires_grad());
  CHECK(x.is_leaf());
  const Tensor other_name = x;
  CHECK(other_name.requires_grad());  // a copy of the handle is the same tensor

  const Tensor y = x * 2, cut = y.detach();
  CHECK_FALSE(y.is_leaf());
  CHECK(cut.is_leaf());
  CHECK_FALSE(cut.requires_grad());
  CHECK(cut.data<float>() == y.data<float>());
  CHECK_FALSE((cut * 2).requires_grad());

  x.requires_grad_(false);
  CHECK_FALSE(x.requires_grad());
  CHECK(y.requires_grad());
  CHECK(x.requires_grad_(false).same_as(x));
}

TEST_CASE("requires_grad_ and register_hook throw for tensors that cannot have a gradient") {
  CHECK_ERROR_HAS(ones({2}, boolean).requires_grad_(), "x is bool");
  const Tensor y = 2 * ones({2}).requires_grad_();
  CHECK_ERROR(y.requires_grad_(false),
              "requires_grad_: a tensor computed by mul has a history; take detach() of it");
  CHECK(message([&] { y.requires_grad_(); }).empty());
  CHECK_ERROR_HAS(Tensor().requires_grad_(), "undefined");
  CHECK_ERROR(ones({2}).register_hook({}),
              "register_hook: a tensor of shape [2] does not require a gradient");
}

TEST_CASE("a gradient can be set, replaced and reset") {
  const Tensor x = ones({2}, float64).requires_grad_();
  const Tensor g = tensor({3, 4}, float64);
  x.set_grad(g);
  CHECK(values(x.grad()) == Values{3, 4});
  sum(x).backward();
  CHECK(values(x.grad()) == Values{4, 5});
  x.set_grad({});
  CHECK_FALSE(x.grad().defined());
  CHECK_ERROR(x.set_grad(ones({3}, float64)),
              "set_grad: the tensor is float64 [2] and its gradient float64 [3]");
  CHECK_ERROR(x.set_grad(ones({2})), "set_grad: the tensor is float64 [2] and its gradient float32 [2]");
  CHECK_ERROR(ones({2}).set_grad(ones({2})), "set_grad: a tensor of shape [2] does not require a gradient");
}

TEST_CASE("retain_grad keeps the gradient of an intermediate tensor") {
  const Tensor x = tensor({1, 2}, float64).requires_grad_();
  const Tensor h = x * 3, y = sum(h * h);
  h.retain_grad();
  x.retain_grad();  // no-op for leaves
  y.backward(Tensor(), true);
  CHECK(values(h.grad()) == Values{6, 12});
  CHECK_FALSE(y.grad().defined());
  y.backward();
  CHECK(values(h.grad()) == Values{12, 24});
  CHECK(values(x.grad()) == Values{36, 72});
  CHECK(message([] { ones({2}).retain_grad(); }).find("retain_grad: a tensor of shape [2] does not") == 0);
}
