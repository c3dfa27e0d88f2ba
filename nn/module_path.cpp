// Paths of modules, see Note [Module paths] in nn/module_call.h.

#include <mutex>
#include <set>

#include "nn/module.h"

namespace heed::detail {

// Paths are never freed, because nodes point to them and graphs may outlive every module. Each different
// text is stored once.
static const char* interned(const std::string& path) {
  static std::mutex mutex;
  static auto& paths = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return paths.insert(path).first->c_str();
}

const char* ModuleCall::find_path(const Module& root) const {
  const uint64_t id = root.call_state_.id;
  const char* found = nullptr;
  for (const ConstNamedModule& part : root.named_modules()) {
    CallState& state = part.module->call_state_;
    if (state.root.load(std::memory_order_acquire) != id) {
      state.path.store(interned(part.name), std::memory_order_relaxed);
      state.root.store(id, std::memory_order_release);
    }
    if (part.module == &module_) found = state.path.load(std::memory_order_relaxed);
  }
  return found ? found : module_path;  // not a member: it counts as part of the module that calls it
}

}  // namespace heed::detail
