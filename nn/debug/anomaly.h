#pragma once

#include "autograd/node.h"

/// The first number that is none, where it arises.
namespace heed {

/// Choices of AnomalyGuard.
struct AnomalyOptions {
  bool infinity = true;  ///< whether infinities count; without, scores may be masked by adding -inf
};

/// While it exists, an operation of this thread that gives NaN or an infinity throws an Error, and so does a
/// gradient rule: it names the operation, the module's path, the user's line, the place in the result, and
/// the values that went in.
///
///   AnomalyGuard guard;
///   loss(model(x), y).backward();
///
///   in encoder.layers.0: log: the result [2, 3] is nan at [0, 1]; operand 1 is float32 [2, 3] from -2 to 7,
///   there -2; called at train.cpp:12
///
/// Results are the same bit for bit. A step takes less than twice its time; nothing is paid when none is
/// alive. Values that operations write in place are seen when they are next used. It must end in the thread
/// that made it.
class AnomalyGuard : private Observer {
 public:
  /// Watching begins.
  explicit AnomalyGuard(AnomalyOptions options = {}) : options_(options) {}

 private:
  void on_result(const Operation& op, const Tensor& value) override;
  void on_recorded(const Operation& op, const Tensor& value, Node& node) override;
  void on_backward(Node& node, const Tensor& g) override;
  void on_gradient(Node& input, const Tensor& g, bool summed) override;

  void let_go();

  AnomalyOptions options_;
  // What went into the operations of graphs that are alive, for messages about their rules.
  struct Kept {
    Ref<Node> node;
    std::vector<Tensor> inputs;
  };
  std::vector<Kept> kept_;   // in the order in which they were recorded
  size_t enough_ = 1024;     // of them, before all are looked through for those whose graph is gone
  Node* running_ = nullptr;  // the node whose rule runs, and what it was given
  Tensor given_;
};

}  // namespace heed
