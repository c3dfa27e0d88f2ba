#include "nn/view/capture.h"

#include <utility>

#include "autograd/ops/shape.h"
#include "nn/attention/pooling.h"
#include "nn/table.h"

namespace heed {

static thread_local constinit AttentionScope* innermost = nullptr;

AttentionScope::AttentionScope() : outer_(std::exchange(innermost, this)) {
  detail::attention_observer = record;
  ++detail::paths_wanted;
}

AttentionScope::~AttentionScope() {
  AttentionScope** at = &innermost;  // scopes may end in any order
  while (*at && *at != this) at = &(*at)->outer_;
  if (*at) *at = outer_;
  if (!innermost) detail::attention_observer = nullptr;
  --detail::paths_wanted;
}

Tensor AttentionScope::weights(const std::string& module, int64_t step) const {
  std::vector<std::string> known;
  for (const CapturedAttention& call : calls_) {
    if (call.module == module && call.step == step) return call.weights;
    known.push_back("\"" + call.module + "\" " + std::to_string(call.step));
  }
  fail("AttentionScope: there is no call ", step, " of the module \"", module,
       "\"; there are: ", known.empty() ? "none" : detail::listed(known));
}

void AttentionScope::record(const Tensor& weights) {
  const NoGrad guard;
  const Tensor seen = weights;  // which may be in the list of a scope, and that grows
  for (AttentionScope* scope = innermost; scope; scope = scope->outer_)
    scope->calls_.push_back({detail::module_path, scope->steps_[detail::module_path]++, clone(seen)});
}

}  // namespace heed
