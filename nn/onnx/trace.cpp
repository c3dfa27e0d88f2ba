#include "nn/onnx/trace.h"

#include "autograd/ops/attention.h"
#include "autograd/ops/matmul.h"

namespace heed::onnx {

Traced::Traced(const Tensor& x) : tensor(x) {
  if (!x.defined()) return;
  const TensorImpl& body = TensorImpl::of(x);
  const Storage& storage = *body.storage;
  key = detail::text(reinterpret_cast<uintptr_t>(&storage), " ", storage.version, " ", body.offset, x.dtype(),
                     x.shape(), x.strides());
}

std::string Step::described() const {
  return name + (caller == name ? "" : " in " + caller) + " " + at(line);
}

const TracedValue* Step::attribute(std::string_view attribute_name) const {
  for (const auto& [key, held] : attributes)
    if (key == attribute_name) return &held;
  return nullptr;
}

// Whether ONNX's Attention computes it: four dimensions, equal heads, at most one of mask, bias and causal.
static bool direct(const Step& step) {
  const auto dims = [&](size_t i) { return step.inputs[i].tensor.dim(); };
  const auto size = [&](size_t i, int64_t d) { return step.inputs[i].tensor.size(d); };
  const auto given = [&](const char* name) { return step.get<Traced>(name).tensor.defined(); };
  if (dims(0) != 4 || dims(1) != 4 || dims(2) != 4 || !step.inputs[3].key.empty() ||
      !step.inputs[4].key.empty())
    return false;
  for (const int64_t d : {0, 1})
    if (size(0, d) != size(1, d) || size(0, d) != size(2, d)) return false;
  const int64_t causal = step.get("is_causal");
  return given("mask") + given("bias") + causal <= 1 && step.get("window") + causal * step.get("past") == 0;
}

static Tensor by_reference(const Step& step) {
  AttentionOptions options;
  options.mask = step.get<Traced>("mask").tensor, options.bias = step.get<Traced>("bias").tensor;
  options.is_causal = step.get("is_causal") == 1, options.past = step.get("past");
  options.scale = step.get<double>("scale"), options.soft_cap = step.get<double>("soft_cap");
  if (step.get("window") > 0) options.window = step.get("window"), options.sinks = step.get("sinks");
  const auto in = [&](size_t i) { return step.inputs[i].tensor; };
  options.position_bias = in(3), options.sink_logit = in(4);
  return matmul(attention_weights(in(0), in(1), options), in(2));
}

void Trace::on_result(const Operation& op, const Tensor& value) {
  const char* caller = detail::current_scope ? detail::current_scope->name : op.name;
  Step step{op.name, caller, op.line, {op.inputs.begin(), op.inputs.end()}, {}, Traced(value)};
  const auto copy = []<class T>(T x) -> TracedValue {
    if constexpr (std::is_same_v<T, bool>) return int64_t{x};
    if constexpr (std::is_same_v<T, const char*>) return std::string(x);
    if constexpr (std::is_same_v<T, const Tensor*>) return Traced(*x);
    if constexpr (requires { x->begin(); }) return std::vector<int64_t>(x->begin(), x->end());
    if constexpr (std::is_arithmetic_v<T>) return x;
  };
  for (const heed::Attribute& attribute : op.attributes)
    step.attributes.emplace_back(attribute.name, std::visit(copy, attribute.value));
  if (step.name == "blocked_attention") {
    check(step.get<double>("dropout_p") == 0, "save_onnx: attention with dropout is random; call eval()");
    if (opset_ < 23 || !direct(step)) {
      Trace reference(opset_);
      const Tensor y = by_reference(step);
      steps.insert(steps.end(), reference.steps.begin(), reference.steps.end());
      step = {"alias", step.caller, op.line, {Traced(y)}, {}, step.value};
    }
  }
  steps.push_back(std::move(step));
}

}  // namespace heed::onnx
