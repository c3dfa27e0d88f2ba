#include "tests/nn/modules.h"

using test::Model;

TEST_CASE("a state dict can be loaded back, converting float32 and float64") {
  Model model, other;
  model.layers[0].weight = full({2}, 5);
  model(full({2}, 1));
  model.to(float64);
  other.load_state_dict(model.state_dict());
  CHECK(other.layers[0].weight.dtype() == float32);
  CHECK(values(other.layers[0].weight) == Values{5, 5});
  CHECK(other.counter.calls.item() == 1);

  StateDict state = model.state_dict();
  state.erase("tied");  // the other name of the same member is enough
  CHECK(other.load_state_dict(state).missing.empty());

  Model swapped;
  swapped.layers[1].weight = full({2}, 9);
  state = swapped.state_dict();
  std::swap(state["layers.0.weight"], state["layers.1.weight"]);
  state.erase("tied");
  swapped.load_state_dict(state);
  CHECK(values(swapped.layers[0].weight) == Values{9, 9});
  CHECK(values(swapped.layers[1].weight) == Values{2, 2});
}

TEST_CASE("a state dict that does not fit throws one table and changes nothing") {
  Model model;
  StateDict state = model.state_dict();
  for (auto& [name, value] : state) value = full(value.shape(), 42);
  state.erase("shifter.shift");
  state["layers.1.weight"] = full({3}, 1);
  state["counter.calls"] = full({}, 1, int64);
  state["head.weight"] = full({4, 2}, 1);
  CHECK_ERROR(model.load_state_dict(state),
              "load_state_dict: 4 names do not fit Model; nothing was changed\n"
              "              name             model       given\n"
              "  shape       layers.1.weight  [2]         [3]\n"
              "  dtype       counter.calls    float32 []  int64 []\n"
              "  missing     shifter.shift    []          -\n"
              "  unexpected  head.weight      -           [4, 2]\n"
              "were they saved by another model, or by one with other options?");
  CHECK(values(model.layers[0].weight) == Values{2, 2});
  CHECK_THROWS_AS(model.load_state_dict(state, false), Error);

  state = model.state_dict();
  state.erase("shifter.shift");
  state["head.weight"] = full({4, 2}, 1);
  const LoadReport report = model.load_state_dict(state, false);
  CHECK(report.missing == Texts{"shifter.shift"});
  CHECK(report.unexpected == Texts{"head.weight"});
}

TEST_CASE("to_ converts a tensor and its gradient in place") {
  Parameter a(tensor({0.5f, 2}));
  const Tensor held = a;
  const Tensor y = a * a;
  a.set_grad(tensor({1, 3}));
  a.to_(float64);
  CHECK(held.dtype() == float64);
  CHECK(held.grad().dtype() == float64);
  CHECK(values(held) == Values{0.5, 2});
  CHECK(values(held.grad()) == Values{1, 3});
  CHECK_THROWS_AS(y.backward(tensor({1, 1})), Error);
  CHECK_ERROR(a.to_(int64),
              "to: a float64 member of a module cannot become int64; only floating ones change, to float32 "
              "or float64");
}
