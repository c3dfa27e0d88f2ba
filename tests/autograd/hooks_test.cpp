#include "autograd/hooks.h"

#include "tests/support/expect.h"

static std::string run(const Hooks<std::function<void(std::string&)>>& hooks) {
  std::string order;
  hooks.each([&](const auto& hook) { hook(order); });
  return order;
}

TEST_CASE("hooks run in order until their handles remove them") {
  Hooks<std::function<void(std::string&)>> hooks;
  CHECK(hooks.empty());
  std::vector<HookHandle> handles;
  for (const char* name : {"a", "b", "c"})
    handles.push_back(hooks.add([name](std::string& order) { order += name; }));
  CHECK(run(hooks) == "abc");
  handles[1].remove();
  CHECK(run(hooks) == "ac");
  handles[1].remove();  // no effect
  handles.clear();      // destroying handles removes no hooks
  CHECK(run(hooks) == "ac");
  HookHandle().remove();
}

TEST_CASE("a hook may remove itself and others, and may add hooks") {
  Hooks<std::function<void(std::string&)>> hooks;
  HookHandle first, last;
  first = hooks.add([&](std::string& order) {
    order += "1";
    first.remove();
    last.remove();
    hooks.add([](std::string& more) { more += "4"; });
  });
  hooks.add([](std::string& order) { order += "2"; });
  last = hooks.add([](std::string& order) { order += "3"; });
  const std::string order = run(hooks);
  CHECK(order.starts_with("12"));
  CHECK(run(hooks) == "24");
}

TEST_CASE("a handle may outlive its hooks") {
  HookHandle handle;
  {
    Hooks<std::function<void(std::string&)>> hooks;
    handle = hooks.add([](std::string&) {});
  }
  handle.remove();
}

TEST_CASE("tensor hooks receive the complete gradient and may replace it") {
  const Tensor x = tensor({1, 2}, float64).requires_grad_();
  const Tensor h = x * 3;
  std::vector<Values> seen;
  HookHandle look = h.register_hook([&](const Tensor& g) {
    seen.push_back(values(g));
    return Tensor();
  });
  HookHandle halve = h.register_hook([](const Tensor& g) { return g / 2; });
  HookHandle negate = x.register_hook([](const Tensor& g) { return -g; });
  const Tensor y = sum(h + h * h);
  y.backward(Tensor(), true);
  CHECK(seen == std::vector<Values>{{7, 13}});  // called once, with the sum over both uses
  CHECK(values(x.grad()) == Values{-10.5, -19.5});
  CHECK(values(grad({y}, {x}, {.retain_graph = true})[0]) == Values{-10.5, -19.5});
  CHECK(values(grad({y}, {h}, {.retain_graph = true})[0]) == Values{3.5, 6.5});

  look.remove();
  halve.remove();
  negate.remove();
  x.set_grad({});
  y.backward(Tensor(), true);
  CHECK(seen.size() == 3);
  CHECK(values(x.grad()) == Values{21, 39});

  // A hook that removes itself runs once.
  int calls = 0;
  HookHandle once;
  once = h.register_hook([&](const Tensor&) {
    ++calls;
    once.remove();
    return Tensor();
  });
  y.backward(Tensor(), true);
  y.backward(Tensor(), true);
  CHECK(calls == 1);

  h.register_hook([](const Tensor& g) { return sum(g); });
  CHECK_ERROR(y.backward(), "hook on mul: the gradient is float64 [2] and the hook returned float64 []");
}

TEST_CASE("no hook runs for an input that needed no gradient when the operation was recorded") {
  const Tensor x = tensor({{1, 2, 4}}, float64).requires_grad_(), w = tensor({1, 2, 3}, float64);
  const Tensor y = layer_norm(x, {3}, w);
  w.requires_grad_();
  int calls = 0;
  w.register_hook([&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  grad(sum(y * y), {x}, true);
  CHECK(calls == 0);
}

TEST_CASE("hooks and the objects that they capture are freed with the graph") {
  std::weak_ptr<int> held;
  {
    const auto token = std::make_shared<int>();
    held = token;
    const Tensor x = tensor({1, 2}, float64).requires_grad_(), h = x * 3, y = sum(h * h);
    h.register_hook(
        [token, y](const Tensor&) { return Tensor(); });  // a cycle: y's graph holds h, and h's hook holds y
    y.backward();
  }
  CHECK(held.expired());
}
