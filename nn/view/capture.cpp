#include "nn/view/capture.h"

#include <utility>

#include "autograd/ops.h"
#include "nn/module.h"

namespace heed {
namespace {

thread_local constinit AttentionScope* innermost = nullptr;

}  // namespace

AttentionScope::AttentionScope() : outer_(std::exchange(innermost, this)) { ++detail::paths_wanted; }

AttentionScope::~AttentionScope() {
  AttentionScope** at = &innermost;  // scopes may end in any order
  while (*at && *at != this) at = &(*at)->outer_;
  if (*at) *at = outer_;
  --detail::paths_wanted;
}

Tensor AttentionScope::weights(const std::string& module, int64_t step) const {
  std::string known;
  for (const CapturedAttention& call : calls_) {
    if (call.module == module && call.step == step) return call.weights;
    known += (known.empty() ? "\"" : ", \"") + call.module + "\" " + std::to_string(call.step);
  }
  fail("AttentionScope: there is no call ", step, " of the module \"", module,
       "\"; there are: ", known.empty() ? "none" : known);
}

bool attention_captured() { return innermost != nullptr; }

void capture_attention(const Tensor& weights) {
  for (AttentionScope* scope = innermost; scope; scope = scope->outer_) {
    const std::string module = detail::module_path;
    const NoGrad guard;
    scope->calls_.push_back({module, scope->steps_[module]++, clone(weights)});
  }
}

}  // namespace heed
