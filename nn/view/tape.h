#pragma once

#include "autograd/node.h"
#include "nn/module.h"

/// Forward and backward step by step, with the numbers.
namespace heed {

/// What a Tape saw of one tensor: a box of its drawing.
struct TapeNode {
  std::string name = {};            ///< as Tape::name() gave it, or ""
  std::string operation = {};       ///< "leaf"; "constant": no gradient is wanted for it
  std::string module = {};          ///< path of the module that ran the operation, or ""
  SourceLocation line = {};         ///< that called it
  std::vector<size_t> inputs = {};  ///< positions in Tape::nodes()
  std::string rule = {};            ///< its gradient rule: $1, $2, ... are the inputs, $y is the result
  Tensor value = {};                ///< its numbers
};

/// What a Tape saw happen: a node got its value, or had its turn in a backward pass. A number has no step.
struct TapeStep {
  /// What one rule gave to one input.
  struct Contribution {
    size_t to;        ///< the input
    Tensor gradient;  ///< what the rule gave it now
    Tensor sum;       ///< what it has of this pass
    bool summed;      ///< the rule gave more: the input had been broadcast, and the engine summed over that
  };
  size_t node;                           ///< its position in Tape::nodes()
  Tensor gradient = {};                  ///< complete, when it is the node's turn; undefined for a value
  std::vector<Contribution> gifts = {};  ///< what its rule gave to each input
  int64_t pass = 0;                      ///< which backward pass, from 1; 0 for a value
};

/// Writes down the operations and the backward passes of this thread while it exists, in their order, with
/// the numbers: the values forward, then node by node the gradients, and what each rule gave to each input.
///
///   Tape tape;
///   const Tensor x = tensor(3).requires_grad_();
///   tape.name("x", x);
///   const Tensor y = x * x + sin(x);
///   y.backward();
///   std::cout << tape_text(tape);
///   write_file("graph.html", tape_page(tape));  // nn/view/tape_page.h
///
/// What needs no gradient is not written down, save as an input of what does. Values are copied: for small
/// computations. Results are the same bit for bit. It must end in the thread that made it.
class Tape : private Observer {
 public:
  /// What texts and pictures call this tensor; or the parameters of a module, by the names in its state dict
  /// with the prefix before them: "attention.out_proj.weight".
  void name(const std::string& name, const Tensor& x);
  /// All parameters of a module.
  void name(const std::string& prefix, const Module& module);

  /// Inputs before what is computed from them.
  const std::vector<TapeNode>& nodes() const { return nodes_; }
  /// In the order of time.
  const std::vector<TapeStep>& steps() const { return steps_; }
  /// A name for people: "x"; of a number its value, "2"; of others without a name their position, "#4".
  std::string label(size_t node) const;

 private:
  void on_recorded(const Operation& op, const Tensor& value, Node& node) override;
  void on_backward(Node& node, const Tensor& g) override;
  void on_gradient(Node& input, const Tensor& g, bool summed) override;
  size_t known(const Tensor& x);
  size_t add(const void* identity, TapeNode node);

  std::vector<TapeNode> nodes_;
  std::vector<TapeStep> steps_;
  static constexpr size_t kNone = SIZE_MAX;
  // Of nodes of the graph, and bodies of tensors that have none. One that was written into is a node anew.
  struct Place {
    size_t node;
    int64_t version;
  };
  std::map<const void*, Place> places_;
  std::vector<Ref<Node>> kept_nodes_;  // so that no other node gets the address of one that is known
  std::vector<Tensor> kept_constants_;
  std::map<size_t, Tensor> sums_;  // of the pass that is running
  uint64_t pass_id_ = 0;
  int64_t passes_ = 0;
  size_t rule_step_ = kNone;  // the step of the node whose rule is running, if that is one of ours
};

/// The whole tape: a line for each value and for each turn, with the numbers, the rule, and the line of the
/// program.
std::string tape_text(const Tape& tape);
/// One step of it, tape.steps()[step].
std::string tape_text(const Tape& tape, size_t step);

namespace detail {
/// The numbers of a small tensor, a text for each row of a matrix; of a large one its shape and range.
std::vector<std::string> rows_of(const Tensor& x);
/// The numbers in one line: "9", "[1, 2]", "[[1, 2], [3, 4]]".
std::string in_line(const Tensor& x);
/// "train.cpp:12", without the folders; "" where the line is not the user's.
std::string place_of(SourceLocation line);
/// The gradient rule of a node in the tape's own names.
std::string rule_of(const Tape& tape, size_t node);
}  // namespace detail

}  // namespace heed
