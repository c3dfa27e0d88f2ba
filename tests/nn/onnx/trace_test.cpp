#include "nn/onnx/trace.h"

#include "autograd/ops/attention.h"
#include "tests/support/expect.h"

namespace {

Texts names_of(const onnx::Trace& trace) {
  Texts names;
  for (const onnx::Step& step : trace.steps) names.push_back(step.name);
  return names;
}

}  // namespace

TEST_CASE("onnx: a trace has all operations, recorded or not, with copies of their attributes") {
  const Tensor x = counted({2, 3});
  onnx::Trace trace(23);
  const Tensor y = argmax(transpose(x), 0);
  REQUIRE(names_of(trace) == Texts{"transpose", "argmax"});
  CHECK(trace.steps[0].get<std::vector<int64_t>>("dims") == std::vector<int64_t>{1, 0});
  CHECK(trace.steps[1].get("keepdim") == 0);
  CHECK(trace.steps[1].find<std::string>("dims") == nullptr);
  CHECK(trace.steps[1].attribute("axis") == nullptr);
  CHECK(trace.steps[0].inputs[0].key == onnx::Traced(x).key);
  CHECK(trace.steps[1].inputs[0].key == trace.steps[0].value.key);
  CHECK(trace.steps[1].value.key == onnx::Traced(y).key);
}

TEST_CASE("onnx: keys tell other values apart, and values before and after a write") {
  const Tensor x = counted({2, 2});
  const std::string before = onnx::Traced(x).key;
  CHECK(onnx::Traced(x.detach()).key == before);
  CHECK(onnx::Traced(transpose(x)).key != before);
  CHECK(onnx::Traced(clone(x)).key != before);
  CHECK(onnx::Traced(Tensor()).key.empty());
  unrecorded([&] { zero_(x); });
  CHECK(onnx::Traced(x).key != before);
}

TEST_CASE("onnx: a step is described by its operation, the one that the user called, and the line") {
  const Tensor x = counted({2, 2});
  onnx::Trace trace(23);
  const int line = __LINE__ + 1;
  mv(x, x[0]);
  const onnx::Step& step = trace.steps.at(2);
  CHECK(step.name == "matmul");
  CHECK(step.described() == "matmul in mv at " + place(line));
}

TEST_CASE("onnx: attention that ONNX does not have is traced as its reference") {
  const Tensor q = randn({1, 2, 3, 4}), mask = tril(ones({3, 3}, boolean));
  const auto names = [&](int64_t opset, const AttentionOptions& options) {
    onnx::Trace trace(opset);
    blocked_attention(q, q, q, options);
    return names_of(trace);
  };
  CHECK(names(23, {}) == Texts{"blocked_attention"});
  CHECK(names(23, {.is_causal = true}) == Texts{"blocked_attention"});
  CHECK(names(23, {.mask = mask}) == Texts{"blocked_attention"});
  for (const auto& [opset, options] :
       std::vector<std::pair<int64_t, AttentionOptions>>{{20, {}},
                                                         {23, {.is_causal = true, .past = 1}},
                                                         {23, {.mask = mask, .is_causal = true}},
                                                         {23, {.window = 2}}}) {
    const Texts found = names(opset, options);
    CHECK(found.size() > 3);
    CHECK(found.back() == "alias");
    CHECK(std::ranges::count(found, "masked_softmax") == 1);
  }
  CHECK_ERROR_HAS(names(23, {.dropout_p = 0.5}), "attention with dropout is random; call eval()");
}
