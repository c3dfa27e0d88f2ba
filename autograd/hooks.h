#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

/// Functions that are called at an event, and can be removed again.
namespace heed {

/// Removes a hook. A handle that is destroyed leaves the hook in place.
class HookHandle {
 public:
  /// A handle that calls `remove`; by default that of no hook.
  explicit HookHandle(std::function<void()> remove = nullptr) : remove_(std::move(remove)) {}
  /// Removes the hook. Further calls do nothing.
  void remove() {
    if (remove_) std::exchange(remove_, nullptr)();
  }

 private:
  std::function<void()> remove_;
};

/// Functions to be called in the order they were added, each removable by its handle.
template <class F>
class Hooks {
 public:
  /// One more, called after the others.
  HookHandle add(F hook) {
    hooks_->push_back(std::make_shared<F>(std::move(hook)));
    return HookHandle([list = std::weak_ptr(hooks_), entry = std::weak_ptr(hooks_->back())] {
      if (const auto hooks = list.lock()) std::erase(*hooks, entry.lock());
    });
  }
  /// Whether there are none.
  bool empty() const { return hooks_->empty(); }
  /// Calls visit(hook) for each; a hook may remove itself or others meanwhile.
  void each(auto&& visit) const {
    for (const auto& hook : std::vector(*hooks_)) visit(*hook);
  }

 private:
  std::shared_ptr<std::vector<std::shared_ptr<F>>> hooks_ =
      std::make_shared<std::vector<std::shared_ptr<F>>>();
};

}  // namespace heed
