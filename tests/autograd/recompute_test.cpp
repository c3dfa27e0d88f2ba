#include "autograd/recompute.h"

#include "autograd/ops/activation.h"
#include "tests/support/expect.h"

TEST_CASE("a saved activation is recomputed unless it was overwritten before it was saved") {
  if (reference_mode()) return;
  const Tensor x = randn({100, 100}, float64).requires_grad_(),
               w = randn({100, 100}, float64).requires_grad_();
  const auto gradient = [&] {
    Tensor y = gelu(x);
    const size_t live = memory_use().live;
    const Tensor z = matmul(y, w);
    y = Tensor();
    CHECK(memory_use().live < live + 10000);  // z is allocated and y is freed
    return grad({sum(z)}, {w})[0];
  };
  const Tensor kept = gelu(x.detach()), ones_ = ones({100, 100}, float64);
  CHECK(values(gradient()) == values(matmul(transpose(kept), ones_)));
  const Tensor y = gelu(x);
  unrecorded([&] { mul_(y, ones_ * 2); });
  CHECK(values(grad({sum(matmul(y, w))}, {w})[0]) == values(matmul(transpose(kept * 2), ones_)));
  const Tensor z = gelu(x), product = matmul(z, w);
  unrecorded([&] { mul_(z, ones_ * 2); });
  CHECK(values(grad({sum(product)}, {w})[0]) == values(matmul(transpose(kept), ones_)));
}

TEST_CASE("recomputation: long chains do not overflow the stack") {
  const Tensor x = ones({4}).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = gelu(y);
  sum(y).backward();
  CHECK(all(isfinite(x.grad())).item<bool>());
}

// a^2 b with a joint rule. Counts the calls of the rule and of its reference implementation.
static Tensor joint(Operand a, Operand b, int& rules, int& references) {
  const auto forward = [](const Tensor& u, const Tensor& v) { return u * u * v; };
  return record(
      "joint", fresh(forward(a, b)), {a, b},
      [a = save(a), b = save(b), &rules](const Tensor& g, const Tensor&) -> Gradients {
        ++rules;
        return {g * 2 * a() * b(), g * a() * a()};
      },
      [forward, &references](const Tensors& in) { return ++references, forward(in[0], in[1]); });
}

TEST_CASE("a joint rule computes all gradients at once; its reference is used for second derivatives") {
  int rules = 0, references = 0;
  const Tensor a = leaf({1, 2}), b = leaf({3, 4});
  sum(joint(a, b, rules, references)).backward();
  CHECK(rules == 1);
  CHECK(references == 0);
  CHECK(values(a.grad()) == Values{6, 16});
  CHECK(values(b.grad()) == Values{1, 4});

  const auto first = grad(sum(joint(a, b, rules, references)), {a, b}, true);
  CHECK(rules == 1);
  CHECK(references == 1);
  CHECK(values(first[0]) == Values{6, 16});
  const auto second = grad(sum(first[0]), {a, b});
  CHECK(values(second[0]) == Values{6, 8});
  CHECK(values(second[1]) == Values{2, 4});

  // One tensor as both operands: a^3 with derivatives 3 a^2 and 6 a.
  const Tensor slope = grad(sum(joint(a, a, rules, references)), {a}, true)[0];
  CHECK(values(slope) == Values{3, 12});
  CHECK(values(grad(sum(slope), {a})[0]) == Values{6, 12});

  // An input that needs no gradient.
  const Tensor constant = tensor({3, 4}, float64);
  CHECK(values(grad(sum(joint(a, constant, rules, references)), {a}, true)[0]) == Values{6, 16});

  const Tensor y = joint(a, b, rules, references);
  unrecorded([&] { fill_(b, 0); });
  CHECK_ERROR_HAS(grad(sum(y), {a}, true), "joint: a tensor of shape [2], saved at ");
}
