#include "nn/view/capture.h"

#include "autograd/node.h"
#include "autograd/ops/shape.h"

namespace heed {

Tensor AttentionScope::weights(const std::string& module, int64_t step) const {
  std::vector<std::string> known;
  for (const CapturedAttention& call : calls_) {
    if (call.module == module && call.step == step) return call.weights;
    known.push_back("\"" + call.module + "\" " + std::to_string(call.step));
  }
  fail("AttentionScope: there is no call ", step, " of the module \"", module,
       "\"; there are: ", known.empty() ? "none" : detail::listed(known));
}

void AttentionScope::on_attention(const Tensor& weights) {
  calls_.push_back({detail::module_path, steps_[detail::module_path]++, clone(weights)});
}

}  // namespace heed
