#include "autograd/engine.h"

#ifdef __linux__
#include <link.h>
#include <pthread.h>
#endif

#include <thread>

#include "autograd/ops/activation.h"
#include "autograd/ops/elementwise.h"
#include "nn/optim/clip.h"
#include "tests/support/expect.h"

#ifdef __linux__
// Runs f on a thread with a stack of 64 KiB. The C library places the thread-local variables of all libraries
// on the stack (60 KiB for OpenBLAS), so their size is added.
static void on_small_stack(const std::function<void()>& f) {
  size_t stack = 64 * 1024;
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* sum) {
        for (int i = 0; i < library->dlpi_phnum; ++i)
          if (library->dlpi_phdr[i].p_type == PT_TLS)
            *static_cast<size_t*>(sum) += library->dlpi_phdr[i].p_memsz;
        return 0;
      },
      &stack);
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, stack) == 0);
  pthread_t thread;
  const auto call = [](void* context) -> void* {
    (*static_cast<const std::function<void()>*>(context))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, call, const_cast<void*>(static_cast<const void*>(&f))) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}
#endif

// `count` operations, alternating y + x, y * 1 and relu(y): they save nothing, an operand, and the result.
// The derivative is the number of additions.
static Tensor chain(const Tensor& x, int64_t count) {
  Tensor y = x;
  for (int64_t i = 0; i < count; ++i) y = i % 3 == 0 ? y + x : i % 3 == 1 ? y * 1 : relu(y);
  return y;
}

TEST_CASE("the gradient of a value that is used several times is the sum over its uses") {
  const Tensor x = leaf(3);
  const Tensor y = x * x;  // used twice
  const Tensor z = y * x + y + x;
  z.backward();
  CHECK(x.grad().item() == 27 + 6 + 1);

  const Tensor a = leaf(2);
  Tensor doubled = a;
  for (int i = 0; i < 60; ++i) doubled = doubled + doubled;  // 2^60 paths, 60 nodes
  doubled.backward();
  CHECK(a.grad().item() == 0x1p60);
}

TEST_CASE("several outputs, each with its incoming gradient") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2, z = sum(x * x), s = y * y;
  backward({y, z, s}, {.grad_outputs = {tensor({1, 10}, float64), Tensor(), tensor({1, 1}, float64)}});
  CHECK(values(x.grad()) == Values{2 + 2 + 8, 20 + 4 + 16});

  const Tensor a = leaf({1, 2}), b = a * 3;
  const auto found = grad({b, b}, {a, b}, {.grad_outputs = {ones({2}, float64), ones({2}, float64)}});
  CHECK(values(found[0]) == Values{6, 6});
  CHECK(values(found[1]) == Values{2, 2});  // an output may also be an input
  CHECK_FALSE(a.grad().defined());          // grad() does not change gradients
}

TEST_CASE("higher derivatives") {
  const Tensor x = leaf({2, -3});
  Tensor derivative = square(square(x));  // x^4, 4 x^3, 12 x^2, 24 x, 24
  const std::vector<Values> expected = {{32, -108}, {48, 108}, {48, -72}, {24, 24}};
  for (const Values& want : expected) {
    derivative = grad(sum(derivative), {x}, true)[0];
    CHECK(values(derivative) == want);
  }
  CHECK_FALSE(x.grad().defined());

  // The gradient of a gradient with backward(): d/dx (3 x^2)^2 = 36 x^3.
  const Tensor u = leaf(2);
  const Tensor slope = grad(u * u * u, {u}, true)[0];
  square(slope).backward();
  CHECK(u.grad().item() == 36 * 8);

  // A gradient with a history can be differentiated; resetting it frees its graph.
  const Tensor v = leaf(3);
  (v * v * v).backward(Tensor(), false, true);
  CHECK(v.grad().requires_grad());
  CHECK(grad(v.grad(), {v})[0].item() == 18);
  v.set_grad({});
}

TEST_CASE("a second backward pass is exact if the graph was kept, and throws if it was freed") {
  const Tensor x = leaf({1, 2});
  const Tensor h = x * x;
  const Tensor y = sum(h * x);
  y.backward(Tensor(), true);
  CHECK(values(x.grad()) == Values{3, 12});
  y.backward();
  CHECK(values(x.grad()) == Values{6, 24});
  CHECK_ERROR(y.backward(),
              "backward: the graph of sum was used before and freed; give retain_graph = true the first "
              "time, or compute the result again");
  CHECK_ERROR_HAS(sum(h).backward(), "the graph of mul was used before");
  CHECK_ERROR_HAS(grad(y, {x}), "the graph of sum was used before");
  CHECK(values(x.grad()) == Values{6, 24});  // a pass that throws adds nothing
}

TEST_CASE("the error for an overwritten operand names both operations and both lines") {
  const Tensor x = leaf({1, 2}), other = tensor({3, 4}, float64);
  const Tensor y = sum(x * other);
  const int saved = __LINE__ - 1;
  NoGrad guard;
  fill_(other, 0);
  const int wrote = __LINE__ - 1;
  CHECK_ERROR(y.backward(), "mul: a tensor of shape [2], saved at " + place(saved) +
                                " for the gradient, was overwritten by fill_ at " + place(wrote) +
                                "; write into a clone, or after backward()");
  CHECK_FALSE(x.grad().defined());

  const GradMode recording(true);
  const Tensor z = exp(x);
  const int computed = __LINE__ - 1;
  z.mutable_data<double>()[0] = 0;
  CHECK_ERROR(sum(z).backward(), "exp: its result of shape [2], computed at " + place(computed) +
                                     " and needed for the gradient, was overwritten by mutable_data at " +
                                     place(computed + 2) + "; write into a clone, or after backward()");
}

TEST_CASE("backward and grad: invalid arguments throw") {
  const Tensor x = leaf({1, 2}), constant = ones({2}, float64);
  const Tensor y = x * 2;
  const auto names_this_line = [](const std::string& text, int line) {
    CHECK_MESSAGE(text.ends_with("; called at " __FILE__ ":" + std::to_string(line)), text);
  };
  names_this_line(whole_message([&] { y.backward(); }), __LINE__);
  names_this_line(whole_message([&] { backward({y, y}, {.grad_outputs = {y}}); }), __LINE__);
  names_this_line(whole_message([&] { grad(sum(y), {constant}); }), __LINE__);
  CHECK_ERROR_HAS(y.backward(ones({3}, float64)),
                  "the output is float64 [2], its incoming gradient float64 [3]");
  CHECK_ERROR_HAS(y.backward(ones({2})), "its incoming gradient float32 [2]");
  CHECK_ERROR_HAS(backward({y, y}, {.grad_outputs = {constant}}), "2 outputs and 1 incoming gradients");
  const Tensor unused = leaf({1, 2, 3});
  CHECK_ERROR_HAS(
      grad({sum(y)}, {x, unused}, {.retain_graph = true}),
      "grad: input 1 of shape [3] was not used for the outputs; leave it out, or set allow_unused");
  const auto found = grad({sum(y)}, {x, unused}, {.allow_unused = true});
  CHECK(values(found[0]) == Values{2, 2});
  CHECK_FALSE(found[1].defined());
}

TEST_CASE("a graph is freed with its result; backward frees its saved values") {
  const size_t before = memory_use().live;
  const int64_t n = 32 * 1024;  // doubles: blocks that memory_use counts
  std::weak_ptr<int> held;
  const auto build = [&] {
    const auto token = std::make_shared<int>();
    held = token;
    const auto marked = function(
        "marked", [](const Tensor& v) { return v * 2; },
        [token](const Tensor& g, const Tensor&) { return g * 2; });
    const Tensor x = rand({n}, float64).requires_grad_();
    Tensor h = exp(marked(x));  // reads its result
    h = layer_norm(h, {n});     // a joint rule
    return sum(softmax(h, 0) * tanh(h) * h);
  };
  {
    const Tensor y = build();
    CHECK_FALSE(held.expired());
  }
  CHECK(held.expired());
  CHECK(memory_use().live == before);
  {
    const Tensor y = build();
    y.backward();
    CHECK(held.expired());  // the nodes remain, their rules are freed
    CHECK(memory_use().live <=
          before + 2 * sizeof(double) * static_cast<size_t>(n) + 1024);  // x and its gradient
  }
  CHECK(memory_use().live == before);
  {
    const Tensor x = rand({n}, float64).requires_grad_();
    const Tensor g = grad(sum(exp(x) * layer_norm(x, {n})), {x}, true)[0];
    sum(g * g).backward();
    CHECK(memory_use().live > before);
  }
  CHECK(memory_use().live == before);
}

TEST_CASE("changing a gradient that a graph has saved is detected") {
  const Tensor x = leaf({3, 4}), w = leaf({1, 2});
  const auto overwritten = [&](const auto& change) {
    x.set_grad({});
    sum(x * x).backward();
    const Tensor y = sum(w * x.grad());
    change();
    return message([&] { y.backward(); });
  };
  const auto by = [](const std::string& op, int line) {
    return "was overwritten by " + op + " at " + place(line);
  };
  CHECK(overwritten([] {}).empty());
  CHECK(contains(overwritten([&] { sum(x).backward(); }), by("backward", __LINE__)));
  CHECK(contains(overwritten([&] { clip_grad_norm_({x}, 1); }), by("clip_grad_norm_", __LINE__)));
  CHECK(contains(overwritten([&] { clip_grad_value_({x}, 1); }), by("clip_grad_value_", __LINE__)));
}

TEST_CASE("a hook may differentiate another graph, but not the one that is running") {
  const Tensor x = leaf(3);
  const Tensor y = x * x, z = y * y;
  double inner = 0;
  HookHandle hook = y.register_hook([&](const Tensor&) {
    const GradMode recording(true);
    const Tensor u = leaf(5);
    inner = grad(u * u * u, {u})[0].item();
    return Tensor();
  });
  z.backward(Tensor(), true);
  CHECK(inner == 75);
  CHECK(x.grad().item() == 4 * 27);
  hook.remove();
  y.register_hook([&](const Tensor&) { return grad(z, {x})[0]; });
  CHECK_ERROR_HAS(z.backward(), "is part of a backward pass that is still running");
}

TEST_CASE("several threads run backward at the same time" * doctest::test_suite("threads")) {
  const Tensor shared = leaf({1, 2, 3});
  constexpr int kThreads = 4, kRounds = 200;
  std::vector<Values> by_grad(kThreads), by_backward(kThreads);
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k)
    threads.emplace_back([&, k] {
      const Tensor own = leaf({1, 2, 3});
      for (int round = 0; round < kRounds; ++round) {
        by_grad[k] = values(grad(sum(exp(shared * k) * shared), {shared})[0]);  // shared by all threads
        sum(own * own * (k + shared.detach())).backward();
      }
      by_backward[k] = values(own.grad());
    });
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(shared.grad().defined());
  for (int k = 0; k < kThreads; ++k) {
    CHECK(by_grad[k] == values(grad(sum(exp(shared * k) * shared), {shared})[0]));
    for (int i = 1; i <= 3; ++i) CHECK(by_backward[k][i - 1] == kRounds * 2 * i * (k + i));
  }
}

TEST_CASE("other threads may differentiate and free a graph" * doctest::test_suite("threads")) {
  const Tensor x = leaf({1, 2});
  Tensor y;
  std::thread([&] { y = sum(chain(x, 999)); }).join();
  std::thread([&] { y.backward(Tensor(), true); }).join();
  CHECK(values(x.grad()) == Values{334, 334});
  std::thread([z = std::move(y)] {}).join();
}

#ifdef __linux__
TEST_CASE("a graph of a million operations needs 64 KiB of stack" * doctest::test_suite("slow")) {
  double first = 0, second = 0;
  on_small_stack([&] {
    const Tensor x = leaf(1);
    {
      const Tensor y = chain(x, 1000000);
      y.backward(Tensor(), true);
      first = x.grad().item();
    }  // frees the graph and all saved values
    const Tensor slope = grad(square(chain(x, 200000)), {x}, true)[0];
    slope.backward();
    second = x.grad().item();
  });
  CHECK(first == 333334 + 1);
  const double slope = 66667 + 1;
  CHECK(second == first + 2 * slope * slope);
}
#endif
