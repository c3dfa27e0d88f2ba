#include "nn/module.h"

#include <optional>
#include <sstream>
#include <tuple>

#include "nn/attention/multi_head.h"
#include "nn/layers/dropout.h"
#include "nn/layers/sequential.h"
#include "tests/support/expect.h"

using namespace heed;
using test::names;

namespace {

struct Scale : Layer<Scale> {
  explicit Scale(double value, int64_t size = 2) : weight(full({size}, value)) {}
  Tensor forward(const Tensor& x) const {
    check(x.size(-1) == weight.size(0), "scale: x is ", x.shape());
    return x * weight;
  }
  void visit(Visitor& v) override { v("weight", weight); }
  Parameter weight;
};

struct Counter : Layer<Counter> {
  Tensor forward(const Tensor& x) {
    calls = calls + 1;
    return x + calls;
  }
  void visit(Visitor& v) override {
    v("calls", calls);
    v("scratch", scratch, false);
  }
  Buffer calls{full({}, 0)};
  Buffer scratch{full({3}, 0)};
};

struct Shifter {  // not a module, yet it learns
  Tensor operator()(const Tensor& x) const { return x + shift; }
  void visit(Visitor& v) { v("shift", shift); }
  Parameter shift{full({}, 1)};
};

struct Model : Layer<Model> {
  Model() { layers.assign(2, Scale(2)); }
  Tensor forward(const Tensor& x) {
    Tensor y = x;
    for (const Scale& layer : layers) y = layer(y);
    if (extra) y = (*extra)(y);
    return counter(shifter(y));
  }
  static constexpr int kLayerCall = __LINE__ - 4;  // in forward
  void visit(Visitor& v) override {
    v("layers", layers);
    v("extra", extra);
    v("shifter", shifter);
    v("counter", counter);
    v("absent", absent);
    v("tied", layers[0].weight);
  }
  std::vector<Scale> layers;
  std::optional<Scale> extra;
  Shifter shifter;
  Counter counter;
  Parameter absent;
};

struct Pair : Layer<Pair> {
  std::tuple<Tensor, Tensor> forward(const Tensor& x, int copies) const { return {x * copies, x + copies}; }
};

struct Silent : Layer<Silent> {
  void forward(const Tensor&) const { ++calls; }
  mutable int calls = 0;
};

}  // namespace

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
  CHECK(model.type_name() == "Model");
}

TEST_CASE("two members of one name are an error") {
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

TEST_CASE("copies have values of their own, moved modules keep theirs, assignment writes in place") {
  Model model;
  Model copy = model;
  copy.layers[0].weight = full({2}, 7);
  CHECK(model.layers[0].weight.to_vector<float>() == std::vector<float>{2, 2});
  const Tensor held = model.layers[0].weight;
  const float* memory = held.data<float>();
  model = copy;
  CHECK(held.same_as(model.layers[0].weight));
  CHECK(held.data<float>() == memory);
  CHECK(held.to_vector<float>() == std::vector<float>{7, 7});
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
  CHECK(held.grad().to_vector<double>() == Values{2, 2});
  model.zero_grad();
  CHECK_FALSE(held.grad().defined());
  model.requires_grad_(false);
  CHECK_FALSE(held.requires_grad());
  CHECK_ERROR(model.to(int64), "to: a module computes in float32 or float64, not in int64");

  Texts order;
  model.apply([&](Module& part) { order.push_back(part.type_name()); });
  CHECK(order == Texts{"Scale", "Scale", "Counter", "Model"});
}

TEST_CASE("a state dict can be loaded back, converting float32 and float64") {
  Model model, other;
  model.layers[0].weight = full({2}, 5);
  model(full({2}, 1));
  model.to(float64);
  other.load_state_dict(model.state_dict());
  CHECK(other.layers[0].weight.dtype() == float32);
  CHECK(other.layers[0].weight.to_vector<float>() == std::vector<float>{5, 5});
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
  CHECK(swapped.layers[0].weight.to_vector<float>() == std::vector<float>{9, 9});
  CHECK(swapped.layers[1].weight.to_vector<float>() == std::vector<float>{2, 2});
}

TEST_CASE("a state dict that does not fit is refused as one table and changes nothing") {
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
  CHECK(model.layers[0].weight.to_vector<float>() == std::vector<float>{2, 2});
  CHECK_THROWS_AS(model.load_state_dict(state, false), Error);

  state = model.state_dict();
  state.erase("shifter.shift");
  state["head.weight"] = full({4, 2}, 1);
  const LoadReport report = model.load_state_dict(state, false);
  CHECK(report.missing == Texts{"shifter.shift"});
  CHECK(report.unexpected == Texts{"head.weight"});
}

TEST_CASE("any arguments and results; const layers with const forward") {
  const Scale scale(3);
  CHECK(scale(full({2}, 1)).to_vector<float>() == std::vector<float>{3, 3});
  const Pair pair;
  const auto [product, total] = pair(full({1}, 2), 5);
  CHECK(product.item() == 10);
  CHECK(total.item() == 7);
  const Silent silent;
  silent(full({1}, 0));
  CHECK(silent.calls == 1);
  static_assert(!std::is_invocable_v<const Counter&, Tensor>);
  static_assert(std::is_invocable_v<Counter&, Tensor>);
  static_assert(!std::is_invocable_v<const Scale&, int, int>);
}

TEST_CASE("forward hooks see inputs and output, may replace it, and can be removed") {
  Scale scale(3, 1);
  std::string log;
  using Inputs = std::vector<Tensor>;
  HookHandle before = scale.register_forward_pre_hook([&](const Module& m, const Inputs& inputs) {
    log += "before " + m.type_name() + " " + std::to_string(inputs.size()) + ";";
  });
  HookHandle see = scale.register_forward_hook([&](const Module&, const Inputs& inputs, const Tensor& y) {
    log += "after " + std::to_string(static_cast<int>(inputs[0].item() + y.item())) + ";";
  });
  HookHandle replace =
      scale.register_forward_hook([](const Module&, const Inputs&, const Tensor& y) { return y * 2; });
  const Tensor x = full({1}, 5);
  CHECK(scale(x).item() == 30);
  CHECK(log == "before Scale 1;after 20;");
  const Scale copy = scale;  // hooks stay with the original
  CHECK(copy(x).item() == 15);
  const Scale moved = std::move(scale);
  CHECK(moved(x).item() == 30);
  replace.remove();
  see.remove();
  before.remove();
  CHECK(moved(x).item() == 15);
  CHECK(log == "before Scale 1;after 20;before Scale 1;after 20;");

  Pair pair;
  int outputs = 0;
  pair.register_forward_hook([&](const Module&, const Inputs&, const Tensor&) { ++outputs; });
  pair(x, 2);
  CHECK(outputs == 2);
  Silent silent;
  silent.register_forward_pre_hook([&](const Module&, const Inputs&) { ++outputs; });
  silent(x);
  CHECK(outputs == 3);
}

TEST_CASE("backward hooks see the gradient of the output, may replace it, and outlive nothing") {
  auto scale = std::make_unique<Scale>(3, 1);
  const Tensor x = full({1}, 5);
  x.requires_grad_();
  Values seen;
  HookHandle see =
      scale->register_backward_hook([&](const Module&, const Tensor& g) { seen.push_back(g.item()); });
  HookHandle twice = scale->register_backward_hook([](const Module&, const Tensor& g) { return g * 2; });
  (*scale)(x).backward();
  CHECK(seen == Values{1});
  CHECK(x.grad().item() == 6);
  twice.remove();
  x.set_grad(Tensor());
  (*scale)(x).backward();
  CHECK(x.grad().item() == 3);
  see.remove();
  (*scale)(x).backward();
  CHECK(seen.size() == 2);

  scale->register_backward_hook([&](const Module&, const Tensor&) { seen.push_back(0); });
  const Tensor y = (*scale)(x);
  scale.reset();
  y.backward();
  CHECK(seen.size() == 2);
}

TEST_CASE("errors name the module where they arose, once") {
  struct Outer : Layer<Outer> {
    explicit Outer(Model inner) : inner(std::move(inner)) {}
    Tensor forward(const Tensor& x) { return inner(x); }
    void visit(Visitor& v) override { v("inner", inner); }
    Model inner;
  };
  const std::string line =
      std::string(": scale: x is [2]; called at ") + __FILE__ + ":" + std::to_string(Model::kLayerCall);
  Model model;
  model.layers.push_back(Scale(1, 3));
  CHECK(whole_message([&] { model(full({2}, 1)); }) == "in layers.2" + line);
  {
    const NoGrad guard;
    CHECK(whole_message([&] { model(full({2}, 1)); }) == "in layers.2" + line);
  }
  Outer outer(std::move(model));
  CHECK(whole_message([&] { outer(full({2}, 1)); }) == "in inner.layers.2" + line);
  outer.inner.layers.erase(outer.inner.layers.begin());
  CHECK(whole_message([&] { outer(full({2}, 1)); }) == "in inner.layers.1" + line);
}

TEST_CASE("errors in layers of heed name the innermost line that is not heed's own") {
  const auto check_text = [](const std::string& text, const std::string& start, int line) {
    CAPTURE(text);
    CHECK(text.starts_with(start));
    CHECK(contains(text, std::string("called at ") + __FILE__ + ":" + std::to_string(line)));
    CHECK(text.find("called at") == text.rfind("called at"));
  };
  const Tensor x = ones({2, 3, 5});
  const Linear linear(4, 3);
  const MultiheadAttention attention(4, 2);
  const Sequential sequential(Dropout(), Sequential(Linear(4, 3)));
  check_text(whole_message([&] { linear(x); }), "linear: ", __LINE__);
  check_text(whole_message([&] { attention(x); }), "MultiheadAttention: ", __LINE__);
  check_text(whole_message([&] { sequential(x); }), "in 1.0: linear: ", __LINE__);

  struct Block : Layer<Block> {
    Tensor forward(const Tensor& x, int which) const {
      if (which == 0) return linear(x);
      if (which == 1) return attention(x).output;
      if (which == 2) return sequential(x);
      return matmul(x, x);
    }
    void visit(Visitor& v) override {
      v("linear", linear);
      v("attention", attention);
      v("sequential", sequential);
    }
    static int line(int which) { return __LINE__ - 10 + which; }
    Linear linear{4, 3};
    MultiheadAttention attention{4, 2};
    Sequential sequential{Dropout(), Linear(4, 3)};
  };
  struct Model : Layer<Model> {
    Tensor forward(const Tensor& x, int which) const { return blocks[0](x, which); }
    void visit(Visitor& v) override { v("blocks", blocks); }
    std::vector<Block> blocks = std::vector<Block>(1);
  };
  const Model model;
  const char* starts[] = {"in blocks.0.linear: linear: ", "in blocks.0.attention: MultiheadAttention: ",
                          "in blocks.0.sequential.1: linear: ", "in blocks.0: matmul: "};
  for (int which = 0; which < 4; ++which)
    check_text(whole_message([&] { model(x, which); }), starts[which], Block::line(which));
}

TEST_CASE("a module prints as the tree of its types, paths and shapes") {
  std::ostringstream out;
  out << Sequential(Linear(4, 3), Dropout()) << "\n" << Model();
  CHECK(out.str() ==
        "Sequential(\n"
        "  (0): Linear(weight [3, 4], bias [3])\n"
        "  (1): Dropout()\n"
        ")\n"
        "Model(\n"
        "  shifter.shift [], tied [2]\n"
        "  (layers.0): Scale(weight [2])\n"
        "  (layers.1): Scale(weight [2])\n"
        "  (counter): Counter(calls [], scratch [3])\n"
        ")");
}

// A const module hands out nothing that changes it.
static_assert(
    std::is_same_v<decltype(std::declval<const Model&>().named_modules()[0].module), const Module*>);
static_assert(std::is_same_v<decltype(std::declval<Model&>().named_modules()[0].module), Module*>);

TEST_CASE("operations know the path of their module; copies and moved modules find theirs anew") {
  struct Probe : Layer<Probe> {
    std::string forward() const { return detail::module_path; }
  };
  struct Holder : Layer<Holder> {
    Texts forward() const {
      Texts paths;
      for (const Probe& probe : probes) paths.push_back(probe());
      paths.push_back(Probe()());  // not a member
      return paths;
    }
    void visit(Visitor& v) override { v("probes", probes); }
    std::vector<Probe> probes = std::vector<Probe>(2);
  };
  struct Top : Layer<Top> {
    Texts forward() const { return holder(); }
    void visit(Visitor& v) override { v("holder", holder); }
    Holder holder;
  };
  CHECK(Probe()() == "");
  Top top;
  CHECK(top() == Texts{"holder.probes.0", "holder.probes.1", "holder"});
  CHECK(top() == Texts{"holder.probes.0", "holder.probes.1", "holder"});
  CHECK(top.holder() == Texts{"probes.0", "probes.1", ""});
  top.holder.probes.emplace_back();
  CHECK(top()[2] == "holder.probes.2");
  std::swap(top.holder.probes[0], top.holder.probes[1]);
  CHECK(top()[0] == "holder.probes.0");
  top.holder.probes.erase(top.holder.probes.begin());
  CHECK(top() == Texts{"holder.probes.0", "holder.probes.1", "holder"});
  const Top copy = top;
  CHECK(copy.holder() == Texts{"probes.0", "probes.1", ""});
  CHECK(std::string(detail::module_path) == "");

  Model model;
  const Tensor y = model.layers[0](full({2}, 1));
  CHECK(std::string(Node::of(y)->module) == "");
  const Tensor z = model(full({2}, 1));
  CHECK(std::string(Node::of(z)->module) == "counter");
}
