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
  const Shape &q = step.inputs[0].tensor.shape(), &k = step.inputs[1].tensor.shape(),
              &v = step.inputs[2].tensor.shape();
  bool fits = q.dim() == 4 && k.dim() == 4 && v.dim() == 4;
  for (int64_t d = 0; d < 2 && fits; ++d) fits = q[d] == k[d] && q[d] == v[d];
  const auto given = [&](const char* name) { return step.get<Traced>(name)->tensor.defined(); };
  const bool causal = *step.get<bool>("is_causal");
  return fits && given("mask") + given("bias") + causal <= 1 && *step.get<int64_t>("window") == 0 &&
         (!causal || *step.get<int64_t>("past") == 0) && *step.get<double>("dropout_p") == 0 &&
         !step.inputs[3].tensor.defined() && !step.inputs[4].tensor.defined();
}

static Tensor by_reference(const Step& step) {
  const auto& in = step.inputs;
  check(*step.get<double>("dropout_p") == 0, "save_onnx: attention with dropout is random; call eval()");
  const int64_t window = *step.get<int64_t>("window");
  AttentionOptions options;
  options.mask = step.get<Traced>("mask")->tensor;
  options.bias = step.get<Traced>("bias")->tensor;
  options.is_causal = *step.get<bool>("is_causal");
  options.past = *step.get<int64_t>("past");
  options.scale = *step.get<double>("scale");
  if (window > 0) options.window = window;
  options.sinks = *step.get<int64_t>("sinks");
  options.soft_cap = *step.get<double>("soft_cap");
  options.position_bias = in[3].tensor;
  options.sink_logit = in[4].tensor;
  return matmul(attention_weights(in[0].tensor, in[1].tensor, options), in[2].tensor);
}

void Trace::on_result(const Operation& op, const Tensor& value) {
  Step step{op.name, detail::current_scope ? detail::current_scope->name : op.name,
            op.line, {op.inputs.begin(), op.inputs.end()},
            {},      Traced(value)};
  for (const heed::Attribute& attribute : op.attributes)
    step.attributes.emplace_back(attribute.name, std::visit(
                                                     [](const auto& x) -> TracedValue {
                                                       using T = std::decay_t<decltype(x)>;
                                                       if constexpr (std::is_same_v<T, const char*>)
                                                         return std::string(x);
                                                       else if constexpr (std::is_same_v<T, const Tensor*>)
                                                         return Traced(*x);
                                                       else if constexpr (std::is_pointer_v<T>)
                                                         return std::vector<int64_t>(x->begin(), x->end());
                                                       else
                                                         return x;
                                                     },
                                                     attribute.value));
  if (step.name == "blocked_attention" && (opset_ < 23 || !direct(step))) {
    Trace reference(opset_);
    const Tensor y = by_reference(step);
    steps.insert(steps.end(), reference.steps.begin(), reference.steps.end());
    step = {"alias", step.caller, op.line, {Traced(y)}, {}, step.value};
  }
  steps.push_back(std::move(step));
}

}  // namespace heed::onnx
