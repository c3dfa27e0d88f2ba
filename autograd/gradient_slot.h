#pragma once

#include <mutex>

#include "autograd/node.h"

/// Where the gradient of a leaf is kept.
namespace heed {

/// The gradient of a leaf, or of another tensor after retain_grad().
///
/// Note [Gradient slots]: with create_graph a gradient has a graph, which leads back to the node of the
/// tensor that it belongs to. If that node owned the gradient, the two would keep each other alive: a leak.
/// So the tensor owns it, and no graph owns the tensor: gradient rules save `graph_alias`, a second tensor of
/// the same values and node. The gradient is freed with the last handle of its tensor.
class GradientSlot : public AutogradMeta {
 public:
  /// Makes this the slot of the node of `x`, which the caller stores in `x`.
  GradientSlot(const Tensor& x, Ref<Node> node);
  ~GradientSlot() override;

  /// Locks every slot: a tensor, and so its slot, may be destroyed by another thread at any time.
  static std::unique_lock<std::mutex> lock();
  /// The accumulated gradient of a node, undefined if there is none. The caller holds the lock.
  static Tensor gradient(const Node& node) { return node.slot ? node.slot->gradient_ : Tensor(); }
  /// Swaps with `g`, so that the old gradient is freed outside the lock. The caller holds the lock.
  static void swap_gradient(const Node& node, Tensor& g) {
    if (node.slot) std::swap(node.slot->gradient_, g);
  }
  /// Throws if `g` as the gradient of this node would form a cycle that is never freed.
  static void check_gradient(const Node& node, const Tensor& g);

  const bool created_after_save;  ///< A rule holds the tensor itself: a gradient with a graph would leak.

 private:
  const Ref<Node> node_;
  const Tensor alias_;  // a second tensor of the same values and node
  Tensor gradient_;
};

}  // namespace heed
