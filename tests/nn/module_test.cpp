#include "nn/module.h"

#include "tests/nn/modules.h"

using test::Model, test::names;

TEST_CASE("names come from visit: lists, options, plain types, tied weights") {
  Model model;
  CHECK(names(model.named_parameters()) == Texts{"layers.0.weight", "layers.1.weight", "shifter.shift"});
  CHECK(names(model.named_buffers()) == Texts{"counter.calls", "counter.scratch"});
  CHECK(names(model.state_dict()) ==
        Texts{"counter.calls", "layers.0.weight", "layers.1.weight", "shifter.shift", "tied"});
  model.extra.emplace(3);
  CHECK(names(model.named_parameters()) ==
        Texts{"layers.0.weight", "layers.1.weight", "extra.weight", "shifter.shift"});
  CHECK(model.parameter_count() == 7);
  CHECK(model.parameters()[0].same_as(model.layers[0].weight));
  CHECK(names(model.named_modules()) == Texts{"", "layers.0", "layers.1", "extra", "counter"});
}

TEST_CASE("two members with the same name are an error") {
  struct Twice : Layer<Twice> {
    void visit(Visitor& v) override {
      v("weight", a);
      v("weight", b);
    }
    Parameter a{full({1}, 0)}, b{full({1}, 0)};
  };
  CHECK_ERROR(Twice().parameters(),
              "visit: two members have the name \"weight\"; give every member a name of its own");
}

TEST_CASE("copies have their own values, moved modules keep theirs, assignment writes in place") {
  Model model;
  Model copy = model;
  copy.layers[0].weight = full({2}, 7);
  CHECK(values(model.layers[0].weight) == Values{2, 2});
  const Tensor held = model.layers[0].weight;
  const float* memory = held.data<float>();
  model = copy;
  CHECK(held.same_as(model.layers[0].weight));
  CHECK(held.data<float>() == memory);
  CHECK(values(held) == Values{7, 7});
  const Model moved = std::move(model);
  CHECK(held.same_as(moved.layers[0].weight));
}

TEST_CASE("train, eval, to, requires_grad_, zero_grad and apply reach every part in place") {
  Model model;
  model.eval();
  CHECK_FALSE(model.training());
  CHECK_FALSE(model.layers[1].training());
  model.train();
  CHECK(model.counter.training());

  const Tensor held = model.layers[1].weight;
  model.to(float64);
  CHECK(held.dtype() == float64);
  CHECK(model.counter.scratch.dtype() == float64);
  model(full({2}, 1, float64)).backward(full({2}, 1, float64));
  CHECK(values(held.grad()) == Values{2, 2});
  model.zero_grad();
  CHECK_FALSE(held.grad().defined());
  model.requires_grad_(false);
  CHECK_FALSE(held.requires_grad());
  CHECK_ERROR(model.to(int64), "to: a module computes in float32 or float64, not in int64");

  Texts order;
  model.apply([&](Module& part) { order.push_back(part.type_name()); });
  CHECK(order == Texts{"Scale", "Scale", "Counter", "Model"});
}

// A const module only gives access to const modules.
static_assert(
    std::is_same_v<decltype(std::declval<const Model&>().named_modules()[0].module), const Module*>);
static_assert(std::is_same_v<decltype(std::declval<Model&>().named_modules()[0].module), Module*>);
