#pragma once

#include "nn/module.h"

/// Forward and backward passes step by step, with their values.
namespace heed {

/// A tensor that a Tape has seen.
struct TapeNode {
  std::string name = {};            ///< from Tape::name(), or ""
  std::string operation = {};       ///< "leaf" for leaves, "constant" for tensors that need no gradient
  std::string module = {};          ///< path of the module that ran the operation, or ""
  SourceLocation line = {};         ///< line of the call
  std::vector<size_t> inputs = {};  ///< indices in Tape::nodes()
  std::string rule = {};            ///< gradient rule: $1, $2, ... are the inputs, $y is the result
  Tensor value = {};
};

/// A step of a Tape: a node is computed, or its gradient rule runs. Constant scalars have no step.
struct TapeStep {
  /// The gradient that a rule returned for one input.
  struct Contribution {
    size_t to;  ///< the input, an index in Tape::nodes()
    Tensor gradient;
    Tensor sum;   ///< of all contributions to this input in this pass so far
    bool summed;  ///< whether the engine summed `gradient` over broadcast dimensions
  };
  size_t node;           ///< index in Tape::nodes()
  Tensor gradient = {};  ///< of the node; undefined in the forward pass
  std::vector<Contribution> contributions = {};
  int64_t pass = 0;  ///< the number of the backward pass, from 1; 0 in the forward pass
};

/// Records the operations and backward passes of this thread during its lifetime, with all values: forward
/// the results, backward the gradient of each node and the contributions of its rule to the inputs.
///
///   Tape tape;
///   const Tensor x = tensor(3).requires_grad_();
///   tape.name("x", x);
///   const Tensor y = x * x + sin(x);
///   y.backward();
///   std::cout << tape_text(tape);
///   write_file("graph.html", tape_page(tape));  // nn/view/tape_page.h
///
/// Tensors that need no gradient are recorded only as inputs of others that do. Values are copied, so use a
/// tape for small computations. The results stay the same bit for bit. A tape must be destroyed by the thread
/// that created it.
class Tape : private Observer {
 public:
  /// Names a tensor in texts and pictures.
  void name(const std::string& name, const Tensor& x);
  /// Names all parameters of a module as in its state dict, after a prefix: "attention.out_proj.weight".
  void name(const std::string& prefix, const Module& module);

  /// The tensors, inputs before the results computed from them.
  const std::vector<TapeNode>& nodes() const { return nodes_; }
  /// The steps in order of time.
  const std::vector<TapeStep>& steps() const { return steps_; }
  /// The name of a node; without a name the value of a constant scalar, or "#4" for nodes()[3].
  std::string label(size_t node) const;

 private:
  void on_recorded(const Operation& op, const Tensor& value, Node& node) override;
  void on_backward(Node& node, const Tensor& g) override;
  void on_gradient(Node& input, const Tensor& g, bool summed) override;
  size_t known(const Tensor& x);
  size_t add(const Tensor& x, Node* node, TapeNode seen);

  struct Place {
    size_t node;
    int64_t version;      // of the storage: a leaf that is overwritten becomes another node
    Ref<Node> kept_node;  // kept alive, so that its address is not reused
    Tensor kept_constant;
  };
  std::vector<TapeNode> nodes_;
  std::vector<TapeStep> steps_;
  std::map<const void*, Place> places_;  // by graph node, and by TensorImpl for constants
  std::map<size_t, Tensor> sums_;        // of the contributions to each node in the current pass
  uint64_t pass_id_ = 0;
  int64_t passes_ = 0;
  std::optional<size_t> rule_step_;  // the step of the rule that is running, if its node is on the tape
};

/// The gradient rule of an operation, in the given names of its inputs and result; "" as the name of an input
/// that was not given. g is the gradient of the result. Inputs that need no gradient have no formula:
///
///   gradient_rule(*Node::of(w * x), {"w", "x"}, "y")    "dw = g x, dx = g w", or "dw = g x" for a constant x
///
/// "" for an operation whose edges have no texts; see Edge in autograd/node.h.
std::string gradient_rule(const Node& node, const std::vector<std::string>& names, const std::string& result);

/// All steps as text, one line each: values, gradients, rules and the lines of the program.
std::string tape_text(const Tape& tape);
/// One step as text: tape.steps()[step].
std::string tape_text(const Tape& tape, size_t step);

namespace detail {
/// The values of a small tensor, one text for each row of a matrix; the shape and range of a large one.
std::vector<std::string> rows_of(const Tensor& x);
/// The values in one line: "9", "[1, 2]", "[[1, 2], [3, 4]]".
std::string in_line(const Tensor& x);
/// "train.cpp:12", without folders; "" for lines of heed itself.
std::string place_of(SourceLocation line);
/// The gradient rule of a node, in the names of the tape.
std::string rule_of(const Tape& tape, size_t node);
}  // namespace detail

}  // namespace heed
