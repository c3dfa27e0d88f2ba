#include "nn/onnx/forms.h"

#include "tests/support/expect.h"

namespace {

onnx::Step step_of(const std::string& name, DType dtype = float32) {
  onnx::Step step;
  step.name = step.caller = name;
  step.value = onnx::Traced(zeros({}, dtype));
  return step;
}

}  // namespace

TEST_CASE("onnx: the form of an operation depends on its attributes, dtype and the opset") {
  CHECK(onnx::form_of(step_of("exp"), 23) == "Exp(a)");
  onnx::Step add = step_of("add");
  CHECK(onnx::form_of(add, 23) == "Add(a, b)");
  add.attributes = {{"alpha", 2.0}};
  CHECK(onnx::form_of(add, 23) == "Add(a, Mul(b, alpha))");
  onnx::Step div = step_of("div");
  div.attributes = {{"rounding", std::string("floor")}};
  CHECK(onnx::form_of(div, 23) == "Floor(Div(a, b))");
  CHECK(onnx::form_of(step_of("floor"), 23) == "Floor(a)");
  CHECK(onnx::form_of(step_of("floor", int64), 23) == "a");
  CHECK(contains(std::string(onnx::form_of(step_of("rms_norm"), 23)), "RMSNormalization"));
  CHECK(!contains(std::string(onnx::form_of(step_of("rms_norm"), 22)), "RMSNormalization"));
}

TEST_CASE("onnx: operations without a form are refused by name and line") {
  const auto cube = function(
      "cube", [](const Tensor& x) { return x * x * x; },
      [](const Tensor& g, const Tensor& x) { return g * 3 * x * x; });
  const Tensor x = counted({2});
  onnx::Trace trace(23);
  const int line = __LINE__ + 1;
  cube(x);
  CHECK_ERROR(onnx::form_of(trace.steps.back(), 23),
              "save_onnx: cube at " + place(line) + " has no form in ONNX (cube)");
  onnx::Step smoothed = step_of("cross_entropy");
  smoothed.attributes = {{"reduction", std::string("mean")}, {"label_smoothing", 0.1}};
  CHECK_ERROR_HAS(onnx::form_of(smoothed, 23), "has no form in ONNX (cross_entropy label_smoothing)");
}
