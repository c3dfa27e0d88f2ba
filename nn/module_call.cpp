#include "nn/module_call.h"

#include "autograd/ops/shape.h"

namespace heed::detail {

void ModuleCall::before(const std::vector<Tensor>& inputs) const {
  if (state_.hooks) state_.hooks->before.each([&](const auto& hook) { hook(module_, inputs); });
  if (Observer::any()) Observer::each([&](Observer& observer) { observer.on_module_begin(module_, inputs); });
}

Tensor ModuleCall::after(const std::vector<Tensor>& inputs, const Tensor& output) const {
  if (!output.defined()) return output;  // such as attention weights that were not requested
  if (Observer::any()) Observer::each([&](Observer& observer) { observer.on_module_end(module_, output); });
  const std::shared_ptr<ModuleHooks>& hooks = state_.hooks;
  if (!hooks) return output;
  Tensor y = output;
  const auto replace = [](Tensor& x, Tensor by) {
    if (by.defined()) x = std::move(by);
  };
  hooks->after.each([&](const auto& hook) { replace(y, hook(module_, inputs, y)); });
  if (!y.requires_grad() || !heed::grad_enabled() || hooks->backward.empty()) return y;
  // The hook needs a node of this call: y may be a leaf, or an input returned unchanged.
  y = alias(y);
  y.register_hook([hooks = std::weak_ptr(hooks), replace](Tensor g) {
    if (const auto alive = hooks.lock())
      alive->backward.each([&](const auto& hook) { replace(g, hook(*alive->module, g)); });
    return g;
  });
  return y;
}

void ModuleCall::rethrow() const {
  try {
    throw;
  } catch (const Error& error) {
    if (error.parts().module) throw;
    Error::Parts parts = error.parts();
    if (!is_user_code(parts.line) && module_line.line() != 0) parts.line = module_line;
    parts.module = outer_ ? path() : "";
    throw Error(std::move(parts));
  }
}

}  // namespace heed::detail
