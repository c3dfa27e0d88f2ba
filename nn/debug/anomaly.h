#pragma once

#include "autograd/node.h"

/// Reports the first NaN or infinity and the operation that produced it.
namespace heed {

/// Options of AnomalyGuard.
struct AnomalyOptions {
  bool infinity = true;  ///< Whether infinities are errors; set it to false if masks add -inf.
};

/// During its lifetime, an operation or gradient rule of this thread that computes NaN or an infinity throws
/// an Error. The message contains the operation, the path of the module, the user's line, the coordinates in
/// the result, and the values of the operands.
///
///   AnomalyGuard guard;
///   loss(model(x), y).backward();
///
///   in encoder.layers.0: log: the result [2, 3] is nan at [0, 1]; operand 1 is float32 [2, 3] from -2 to 7,
///   there -2; called at train.cpp:12
///
/// Results keep the same bits. A step takes less than twice its time; without a guard there is no cost.
/// Values written in place are checked when an operation uses them. A guard must end in the thread that
/// created it.
class AnomalyGuard : private Observer {
 public:
  /// Starts checking.
  explicit AnomalyGuard(AnomalyOptions options = {}) : options_(options) {}

 private:
  void on_result(const Operation& op, const Tensor& value) override;
  void on_recorded(const Operation& op, const Tensor& value, Node& node) override;
  void on_backward(Node& node, const Tensor& g) override;
  void on_gradient(Node& input, const Tensor& g, bool summed) override;
  int64_t first_anomaly(const Tensor& x) const;
  void drop_finished();

  // The operands of a recorded operation, for messages about its gradient rule.
  struct Recorded {
    Ref<Node> node;
    std::vector<Tensor> inputs;
  };
  AnomalyOptions options_;
  std::vector<Recorded> recorded_;
  size_t limit_ = 1024;      // length of recorded_ at which finished graphs are dropped
  Node* running_ = nullptr;  // the node whose rule runs
  Tensor incoming_;          // its incoming gradient
};

}  // namespace heed
