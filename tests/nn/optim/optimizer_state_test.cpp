// Tests of optimizer_state.cpp.
#include "nn/layers/linear.h"
#include "nn/optim/adaptive.h"
#include "nn/optim/sgd.h"
#include "tests/support/expect.h"

TEST_CASE("optimizers: a loaded state continues with the same bits") {
  const auto gradient = [](int step) { return from_vector<double>({1.0 + step, -0.5 * step, 2}, {3}); };
  const Tensor a = leaf({1, 2, 3});
  Adam first({a}, {.lr = 0.1, .amsgrad = true});
  for (int step = 0; step < 3; ++step) a.set_grad(gradient(step)), first.step();
  first.set_lr(0.05);

  const Tensor b = clone(a.detach()).requires_grad_();
  Adam second({b}, {.lr = 0.1, .amsgrad = true});
  second.load_state_dict(first.state_dict());
  CHECK(second.lr() == 0.05);
  for (int step = 3; step < 6; ++step) {
    a.set_grad(gradient(step)), first.step();
    b.set_grad(gradient(step)), second.step();
  }
  CHECK(values(a) == values(b));

  const auto state = first.state_dict();
  CHECK(state.size() == 5);
  CHECK(state.at("0.step").item<int64_t>() == 6);
  CHECK(state.at("0.exp_avg").shape() == Shape{3});
  CHECK(state.count("0.max_exp_avg_sq") == 1);

  SGD other({b}, {.lr = 0.1});
  CHECK_ERROR(other.load_state_dict(state),
              "SGD: load_state_dict: 3 of 5 entries do not belong to 1 parameters in 1 groups of a SGD");
  const Tensor longer = leaf({1, 2, 3, 4});
  Adam third({longer});
  CHECK_ERROR(third.load_state_dict(state),
              "Adam: load_state_dict: 0.exp_avg has shape [3] and the parameter [4]");
}

// Calls f(name, make) for each kind of optimizer, with options that use all of its state; make(parameters).
template <class F>
static void each_kind(F&& f) {
  using Params = Tensors;
  f("SGD", [](const Params& p) { return std::make_unique<SGD>(p, SGDOptions{.lr = 0.1, .momentum = 0.9}); });
  f("Adam",
    [](const Params& p) { return std::make_unique<Adam>(p, AdamOptions{.lr = 0.1, .amsgrad = true}); });
  f("AdamW", [](const Params& p) { return std::make_unique<AdamW>(p, AdamWOptions{.lr = 0.1}); });
  f("RMSprop", [](const Params& p) {
    return std::make_unique<RMSprop>(p, RMSpropOptions{.lr = 0.1, .momentum = 0.5, .centered = true});
  });
  f("Adagrad", [](const Params& p) { return std::make_unique<Adagrad>(p, AdagradOptions{.lr = 0.1}); });
}

TEST_CASE("optimizers: loading an invalid state throws and changes nothing") {
  each_kind([](const std::string& kind, auto make) {
    CAPTURE(kind);
    const Tensor p = leaf({1, 2});
    const auto optimizer = make({p});
    p.set_grad(leaf({3, -1}).detach()), optimizer->step();
    const auto before = optimizer->state_dict();
    const auto refused = [&](const std::string& name, const Tensor& value, const std::string& why) {
      auto state = before;
      for (auto& [key, x] : state) x = x + 1;  // would be loaded
      state[name] = value;
      CHECK(message([&] { optimizer->load_state_dict(state); }).starts_with(kind + ": " + why));
      for (const auto& [key, x] : optimizer->state_dict()) CHECK(values(x) == values(before.at(key)));
    };
    refused("lr.0", tensor(-1, float64), "a learning rate of -1; it must be at least 0");
    refused("lr.0", tensor(NAN, float64), "a learning rate of nan; it must be at least 0");
    for (const double step : {-3.0, 1.5, kInf})
      refused("0.step", tensor(step, float64),
              "load_state_dict: 0.step is " + to_string(step) + "; it must be a whole number from 0");
    const std::string slot = kind == "Adagrad" ? "0.sum" : before.begin()->first;
    refused(slot, zeros({2}, int64), "load_state_dict: " + slot + " is int64; it must be float32 or float64");
    refused("1.step", tensor(1, int64), "load_state_dict: 1 of ");
  });
}

TEST_CASE("optimizers: the state follows a change of the module's dtype") {
  each_kind([](const std::string& kind, auto make) {
    CAPTURE(kind);
    Linear changes(3, 2), always = changes;
    always.to(float64);
    const auto one = make(changes.parameters()), other = make(always.parameters());
    for (int step = 0; step < 4; ++step) {
      if (step == 2) changes.to(float64);
      for (const auto& [layer, optimizer] : {std::pair(&changes, &one), std::pair(&always, &other)}) {
        int64_t n = 0;
        for (const Tensor& p : layer->parameters())
          p.set_grad(reshape(to(arange(p.numel()), p.dtype()), p.shape()) * 0.25 - 0.5 * (++n + step));
        (*optimizer)->step();
      }
    }
    CHECK(changes.weight.dtype() == float64);
    CHECK(largest_difference(changes.weight, always.weight) < 1e-6);
    CHECK(largest_difference(changes.bias, always.bias) < 1e-6);
  });
}
