#include "autograd/gradient_commit.h"

#include "tests/support/expect.h"

TEST_CASE("leaves accumulate gradients until they are reset") {
  const Tensor x = leaf({1, 2}), w = leaf({3, 4}), constant = tensor({5, 6}, float64);
  for (const double passes : {1.0, 2.0, 3.0}) {
    sum(x * w + x * constant).backward();
    CHECK(values(x.grad()) == Values{passes * 8, passes * 10});
    CHECK(values(w.grad()) == Values{passes * 1, passes * 2});
  }
  CHECK_FALSE(constant.grad().defined());
  x.set_grad({});
  sum(x).backward();
  CHECK(values(x.grad()) == Values{1, 1});
  CHECK_FALSE(x.grad().requires_grad());
}

TEST_CASE("gradients do not share memory") {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4}), seed = tensor({1, 1}, float64);
  const auto memory = [](const Tensor& x) { return static_cast<const void*>(x.data<double>()); };
  const auto apart = [&](const Tensors& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (memory(tensors[i]) == memory(tensors[j])) return false;
    return true;
  };
  const Tensor y = a + b;  // passes its gradient on unchanged
  y.retain_grad();
  y.backward(seed, true);
  CHECK(apart({seed, a.grad(), b.grad(), y.grad()}));
  const auto found = grad({y}, {a, b, y}, {.grad_outputs = {seed}});
  CHECK(apart({seed, found[0], found[1], found[2], a.grad(), b.grad(), y.grad()}));
  CHECK(apart({a.grad(), grad({a}, {a}, {.grad_outputs = {seed}})[0], seed}));

  a.set_grad({});
  a.backward(seed);
  CHECK(apart({seed, a.grad()}));
  a.backward(seed);
  CHECK(values(seed) == Values{1, 1});
  CHECK(values(a.grad()) == Values{2, 2});
  CHECK(values(b.grad()) == Values{1, 1});

  // Views are copied: a transposed gradient does not share memory either.
  const Tensor m = leaf({{1, 2, 3}, {4, 5, 6}});
  transpose(m).backward(zeros({3, 2}, float64));
  CHECK(m.grad().is_contiguous());
  expand(a, {3, 2}).backward(expand(seed, {3, 2}));
  CHECK(values(a.grad()) == Values{5, 5});
}

TEST_CASE("accumulating into a gradient with a history does not change other references to it") {
  const Tensor x = leaf(3);
  (x * x * x).backward(Tensor(), false, true);
  const Tensor first = x.grad();
  (x * x).backward();
  CHECK(x.grad().item() == 27 + 6);
  CHECK_FALSE(x.grad().requires_grad());
  (x * x).backward(Tensor(), false, true);
  (x * x).backward(Tensor(), false, true);
  CHECK(x.grad().item() == 27 + 6 + 6 + 6);
  CHECK(grad(x.grad(), {x})[0].item() == 2 + 2);
  CHECK(first.item() == 27);
  CHECK(grad(first, {x})[0].item() == 18);
}

TEST_CASE("a backward pass that throws adds no gradient and keeps the graph usable") {
  for (size_t thrower = 0; thrower < 5; ++thrower) {
    const Tensor a = leaf(2), b = leaf(3), c = leaf(5), h = a * b, k = b * c;
    h.retain_grad();
    const Tensor y = h * k;  // if h or k throws, the other already has its gradient
    c.set_grad(tensor(100, float64));
    const Tensor all[] = {a, b, c, h, k};
    HookHandle hook = all[thrower].register_hook([](const Tensor&) -> Tensor { throw Error("stop"); });
    CHECK_ERROR(y.backward(Tensor(), true), "stop");
    for (const Tensor& x : {a, b, h}) CHECK_FALSE(x.grad().defined());
    CHECK(c.grad().item() == 100);
    hook.remove();
    y.backward();
    CHECK(a.grad().item() == 45);
    CHECK(b.grad().item() == 60);
    CHECK(c.grad().item() == 118);
    CHECK(h.grad().item() == 15);
  }
}

TEST_CASE("grad returns the gradients of the given inputs in order, leaves or not") {
  const Tensor x = leaf(2), w = leaf(5);
  const Tensor h = x * w, y = h * h;
  const auto found = grad({y}, {w, h, x, w}, {.retain_graph = true});
  CHECK(found[0].item() == 2 * 10 * 2);
  CHECK(found[1].item() == 20);
  CHECK(found[2].item() == 2 * 10 * 5);
  CHECK(found[3].item() == 40);
  CHECK_FALSE(w.grad().defined());

  // Gradients that no requested input needs are not computed.
  int calls = 0;
  const auto counted = function(
      "counted", [](const Tensor& v) { return v * 1; },
      [&calls](const Tensor& g, const Tensor&) { return ++calls, g; });
  const Tensor z = counted(x) * w;
  grad({z}, {w}, {.retain_graph = true});
  CHECK(calls == 0);
  grad(z, {x});
  CHECK(calls == 1);
}
