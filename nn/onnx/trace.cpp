#include "nn/onnx/trace.h"

#include "autograd/ops/attention.h"
#include "autograd/ops/matmul.h"
#include "tensor/kernels/matmul.h"

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
  const auto given = [](const Traced& x) { return !x.key.empty(); };
  const Tensor &q = step.inputs[0].tensor, &k = step.inputs[1].tensor, &v = step.inputs[2].tensor;
  const int64_t causal = step.get("is_causal");
  return q.dim() == 4 && kernel::leading(q) == kernel::leading(k) &&
         kernel::leading(q) == kernel::leading(v) && !given(step.inputs[3]) && !given(step.inputs[4]) &&
         given(step.get<Traced>("mask")) + given(step.get<Traced>("bias")) + causal <= 1 &&
         step.get("window") + causal * step.get("past") == 0;
}

static Tensor by_reference(const Step& step) {
  const auto in = [&](size_t i) { return step.inputs[i].tensor; };
  AttentionOptions options{step.get<Traced>("mask").tensor, step.get<Traced>("bias").tensor,
                           step.get("is_causal") == 1, step.get("past")};
  options.scale = step.get<double>("scale");
  options.soft_cap = step.get<double>("soft_cap");
  options.sinks = step.get("sinks");
  if (step.get("window") > 0) options.window = step.get("window");
  options.position_bias = in(3);
  options.sink_logit = in(4);
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
