#include "autograd/observer.h"

#include <set>

#include "autograd/ops/activation.h"
#include "autograd/ops/attention.h"
#include "autograd/ops/moments.h"
#include "autograd/ops/scan.h"
#include "nn/layers/linear.h"
#include "tests/autograd/op_checks.h"
#include "tests/support/expect.h"

namespace {

// Records all calls.
class Diary : public Observer {
 public:
  Texts lines;

 private:
  void on_begin(const OpScope& scope) override { lines.push_back(std::string("begin ") + scope.name); }
  void on_end(const OpScope& scope) override { lines.push_back(std::string("end ") + scope.name); }
  void on_result(const Operation& op, const Tensor& value) override {
    lines.push_back(std::string("result ") + op.name + " of " + std::to_string(op.inputs.size()) + " " +
                    to_string(value.shape()) + (op.recording ? "" : " unrecorded"));
    value * 2;  // what an observer computes is not observed
  }
  void on_recorded(const Operation& op, const Tensor&, Node&) override {
    lines.push_back(std::string("recorded ") + op.name);
  }
  void on_module_begin(const Module& module, const Tensors& inputs) override {
    lines.push_back("module " + module.type_name() + " of " + std::to_string(inputs.size()));
  }
  void on_module_end(const Module& module, const Tensor&) override {
    lines.push_back("end of " + module.type_name());
  }
};

// Records every operation with its attributes, and the results, including the indices of max.
class Attributed : public Observer {
 public:
  Texts lines;
  Tensors results;

 private:
  void on_result(const Operation& op, const Tensor& value) override {
    std::string line = op.name;
    for (const Attribute& attribute : op.attributes) {
      if (const auto* x = std::get_if<const Tensor*>(&attribute.value)) results.push_back(**x);
      line += std::string(" ") + attribute.name + "=" +
              std::visit([](auto given) { return text_of(given); }, attribute.value);
    }
    lines.push_back(line);
    results.push_back(value);
  }
  static std::string text_of(const Tensor* x) { return x->defined() ? to_string(x->shape()) : "-"; }
  static std::string text_of(const std::vector<int64_t>* list) { return to_string(IntList(*list)); }
  static std::string text_of(const Shape* shape) { return to_string(*shape); }
  static std::string text_of(auto value) { return detail::text(value); }
};

// The operations that `compute` runs, with their attributes.
Texts seen(const auto& compute) {
  const Attributed observer;
  compute();
  return observer.lines;
}

}  // namespace

TEST_CASE("an observer sees the begin and end of operations, recorded or not") {
  const Tensor x = leaf({1, 2});
  Diary diary;
  x * 2;
  CHECK(diary.lines == Texts{"begin mul", "result mul of 2 [2]", "recorded mul", "end mul"});
  diary.lines.clear();
  unrecorded([&] { x * 2; });
  CHECK(diary.lines == Texts{"begin mul", "result mul of 2 [2] unrecorded", "end mul"});
}

TEST_CASE("an observer sees the attributes of operations") {
  const Tensor x = leaf({{1, 2, 3}, {4, 5, 6}}), positions = tensor({1, 0}, int64), mask = x > 2;
  CHECK(seen([&] { softmax(x, -1); }) == Texts{"softmax dim=1 mask=-"});
  CHECK(seen([&] { masked_softmax(x, mask); }) == Texts{"masked_softmax dim=1 mask=[2, 3]"});
  CHECK(seen([&] { layer_norm(x, {3}); }) == Texts{"layer_norm normalized_shape=[3] eps=1e-05"});
  CHECK(seen([&] { permute(x, {1, 0}); }) == Texts{"permute dims=[1, 0]"});
  CHECK(seen([&] { transpose(x); }) == Texts{"transpose dims=[1, 0]"});
  CHECK(seen([&] { narrow(x, 1, 1, 2); }) == Texts{"narrow dim=1 start=1 step=1"});
  CHECK(seen([&] { heed::slice(x, 1, 0, 3, 2); }) == Texts{"slice dim=1 start=0 step=2"});
  CHECK(seen([&] { select(x, 0, -1); }) == Texts{"select dim=0 index=1"});
  CHECK(seen([&] { cat({x, x}, 1); }) == Texts{"cat dim=1"});
  CHECK(seen([&] { flip(x, {1}); }) == Texts{"flip dims=[1]"});
  CHECK(seen([&] { pad(x, {1, 2}, 0.5); }) == Texts{"pad pads=[1, 2] value=0.5"});
  CHECK(seen([&] { sum(x, -1, true); }) == Texts{"sum dims=[1] keepdim=1"});
  CHECK(seen([&] { var(x, 0, 0); }) == Texts{"var dims=[0] correction=0 keepdim=0"});
  CHECK(seen([&] { max(x, 1); }) == Texts{"max dim=1 keepdim=0 indices=[2]"});
  CHECK(seen([&] { cumsum(x, 1); }) == Texts{"cumsum dim=1 reverse=0"});
  CHECK(seen([&] { index_select(x, 0, positions); }) == Texts{"index_select dim=0 index=[2]"});
  CHECK(seen([&] { embedding(x, positions, -1); }) == Texts{"embedding index=[2] padding_idx=1"});
  CHECK(seen([&] { where(mask, x, 0); }) == Texts{"where condition=[2, 3]"});
  CHECK(seen([&] { clamp(x, 0, 1.5); }) == Texts{"clamp min=0 max=1.5"});
  CHECK(seen([&] { leaky_relu(x, 0.2); }) == Texts{"leaky_relu negative_slope=0.2"});
  CHECK(seen([&] { add(x, x, 3); }) == Texts{"add alpha=3"});
  CHECK(seen([&] { blocked_attention(x, x, x, {.is_causal = true, .scale = 0.5}); }) ==
        Texts{"blocked_attention mask=- bias=- is_causal=1 past=0 scale=0.5 dropout_p=0 window=0 sinks=0 "
              "soft_cap=0"});
}

TEST_CASE("an observer sees results without a gradient") {
  const Tensor x = leaf({{1, 2, 3}, {4, 5, 6}});
  CHECK(seen([&] { return x > 2; }) == Texts{"gt"});
  CHECK(seen([&] { isnan(x); }) == Texts{"isnan"});
  CHECK(seen([&] { to(x, int64); }) == Texts{"to"});
  CHECK(seen([&] { argmax(x); }) == Texts{"argmax dims=[0, 1] keepdim=0"});
  CHECK(seen([&] { argmin(x, 1, true); }) == Texts{"argmin dims=[1] keepdim=1"});
  CHECK(seen([&] { any(x, 0); }) == Texts{"any dims=[0] keepdim=0"});
  CHECK(seen([&] { argsort(x); }) == Texts{"topk k=3 dim=1 largest=0", "gather dim=1 index=[2, 3]"});
}

TEST_CASE("an observer sees every result in the table of operators") {
  const auto storage = [](const Tensor& x) { return TensorImpl::of(x).storage.get(); };
  for (const test::OpCase& row : test::op_cases()) {
    const GradMode mode(!row.in_place);
    const Tensors inputs = test::inputs_of(row);
    Attributed observer;
    const test::Outputs outputs = row.call(inputs);
    std::set<const Storage*> known;
    for (const Tensor& x : inputs) known.insert(storage(x));
    for (const Tensor& y : observer.results)
      if (y.defined()) known.insert(storage(y));
    CAPTURE(test::name_of(row));
    for (const Tensor& y : outputs) CHECK(known.contains(storage(y)));
  }
}

TEST_CASE("an observer sees module calls") {
  const Linear linear(2, 3);
  const Tensor x = ones({1, 2});
  Diary diary;
  linear(x);
  REQUIRE(diary.lines.size() > 2);
  CHECK(diary.lines.front() == "module Linear of 1");
  CHECK(diary.lines.back() == "end of Linear");
}

TEST_CASE("observers may end in any order") {
  const Tensor x = leaf(1);
  auto first = std::make_unique<Diary>(), second = std::make_unique<Diary>();
  CHECK(Observer::any());
  first.reset();
  x * 2;
  CHECK(second->lines.size() == 4);
  second.reset();
  CHECK_FALSE(Observer::any());
}
