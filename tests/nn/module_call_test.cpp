#include "nn/module_call.h"

#include "nn/attention/multi_head.h"
#include "nn/layers/dropout.h"
#include "nn/layers/sequential.h"
#include "tests/nn/modules.h"

using test::Counter, test::Model, test::Scale;

namespace {

struct Pair : Layer<Pair> {
  std::tuple<Tensor, Tensor> forward(const Tensor& x, int copies) const { return {x * copies, x + copies}; }
};

struct Silent : Layer<Silent> {
  void forward(const Tensor&) const { ++calls; }
  mutable int calls = 0;
};

}  // namespace

TEST_CASE("any arguments and results; const layers with const forward") {
  const Scale scale(3);
  CHECK(values(scale(full({2}, 1))) == Values{3, 3});
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
  using Inputs = Tensors;
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

TEST_CASE("backward hooks see the gradient of the output, may replace it, and end with the module") {
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

TEST_CASE("errors name the innermost module once") {
  struct Outer : Layer<Outer> {
    explicit Outer(Model inner) : inner(std::move(inner)) {}
    Tensor forward(const Tensor& x) { return inner(x); }
    void visit(Visitor& v) override { v("inner", inner); }
    Model inner;
  };
  const std::string line = ": scale: x is [2]; called at " + Model::layer_call();
  Model model;
  model.layers.push_back(Scale(1, 3));
  CHECK(whole_message([&] { model(full({2}, 1)); }) == "in layers.2" + line);
  unrecorded([&] { CHECK(whole_message([&] { model(full({2}, 1)); }) == "in layers.2" + line); });
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
  const Sequential sequential{Dropout(), Sequential{Linear(4, 3)}};
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

TEST_CASE("operations know the path of their module, even after copies and moves") {
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
