#include "nn/view/capture.h"

#include "autograd/ops/shape.h"
#include "nn/attention/pooling.h"
#include "tensor/table.h"

namespace heed {

static thread_local std::vector<AttentionScope*> scopes;  // that exist, the outermost first

AttentionScope::AttentionScope() {
  scopes.push_back(this);
  detail::attention_observer = record;
  ++detail::paths_wanted;
}

AttentionScope::~AttentionScope() {
  std::erase(scopes, this);  // scopes may end in any order
  if (scopes.empty()) detail::attention_observer = nullptr;
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
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): it may be in the list of a scope, and that
  // grows
  const Tensor seen = weights;
  for (AttentionScope* scope : scopes)
    scope->calls_.push_back({detail::module_path, scope->steps_[detail::module_path]++, clone(seen)});
}

}  // namespace heed
