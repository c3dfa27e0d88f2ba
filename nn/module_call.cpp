#include "nn/module_call.h"

#include <mutex>
#include <set>

#include "autograd/ops/shape.h"
#include "nn/module.h"

namespace heed::detail {

// The hooks of one module. Backward hooks find the module here, because a graph may outlive it.
struct ModuleHooks {
  const Module* module;
  Hooks<ForwardPreHook> before = {};
  Hooks<ForwardHook> after = {};
  Hooks<BackwardHook> backward = {};
};

// Paths are never freed, because nodes point to them and graphs may outlive every module. Each different
// text is stored once.
static const char* interned(const std::string& path) {
  static std::mutex mutex;
  static auto& paths = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return paths.insert(path).first->c_str();
}

// See Note [Module paths].
const char* ModuleCall::path() const {
  const uint64_t id = outermost_.state_.id.load(std::memory_order_relaxed);
  if (state_.root.load(std::memory_order_acquire) == id) return state_.path.load(std::memory_order_relaxed);
  const char* found = module_path;  // not a member: it counts as part of the module that calls it
  for (const ConstNamedModule& part : outermost_.module_.named_modules()) {
    CallState& state = part.module->call_state_;
    if (state.root.load(std::memory_order_acquire) != id) {
      state.path.store(interned(part.name), std::memory_order_relaxed);
      state.root.store(id, std::memory_order_release);
    }
    if (part.module == &module_) found = state.path.load(std::memory_order_relaxed);
  }
  return found;
}

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

void ModuleCall::rethrow() const try { throw; } catch (const Error& error) {
  if (error.parts().module) throw;
  Error::Parts parts = error.parts();
  if (!is_user_code(parts.line) && module_line.line() != 0) parts.line = module_line;
  parts.module = outer_ ? path() : "";
  throw Error(std::move(parts));
}

}  // namespace heed::detail

namespace heed {

Module::Module(Module&& other) noexcept : training_(other.training_) {
  call_state_.hooks = std::move(other.call_state_.hooks);
  if (call_state_.hooks) call_state_.hooks->module = this;
}

detail::ModuleHooks& Module::hooks() {
  std::shared_ptr<detail::ModuleHooks>& own = call_state_.hooks;
  if (!own) own = std::make_shared<detail::ModuleHooks>(detail::ModuleHooks{this});
  return *own;
}

HookHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
  return hooks().before.add(std::move(hook));
}

HookHandle Module::register_forward_hook(ForwardHook hook) { return hooks().after.add(std::move(hook)); }

HookHandle Module::register_backward_hook(BackwardHook hook) { return hooks().backward.add(std::move(hook)); }

}  // namespace heed
