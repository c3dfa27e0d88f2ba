#pragma once

#include "autograd/hooks.h"
#include "autograd/observer.h"
#include "autograd/operand.h"
#include "autograd/rule_table.h"
#include "autograd/saved.h"
#include "tensor/reference.h"

/// How an operation is recorded: record() and its edges, and the graph nodes that these become.
namespace heed {

class GradientSlot;
class Node;
struct Recomputation;

namespace detail {

/// Path of the module whose forward runs in this thread, "" outside; nn sets it.
inline thread_local constinit const char* module_path = "";
/// Where the program called the innermost module that runs in this thread, ignoring calls by heed's layers.
/// Its line is 0 outside of modules. nn sets it.
inline thread_local constinit SourceLocation module_line;

}  // namespace detail

/// An input of an operation and the formula of its gradient:
///
///   {a, [b = save(b)](const Tensor& g) { return g * b(); }}
///
/// `g` is the incoming gradient; a rule of two arguments also receives `y`, the result. An undefined tensor
/// means zero. Without a rule the input has no gradient. The edge refers to the closure, which record() moves
/// into the node, so the closure must be a temporary or given with std::move.
struct Edge {
  explicit(false) Edge(const Operand& x) : input(x) {}
  /// `f` is (g) -> gradient, or (g, y) -> gradient. `formula` is the rule as text for display, a literal in
  /// which $1, $2, ... are the operation's inputs and $y is its result: "g $2".
  template <class Rule, class Closure = std::remove_cvref_t<Rule>>
  Edge(const Operand& x, const char* formula, Rule&& f)
      : input(x), text(formula), rule(const_cast<Closure*>(&f)), table(&detail::rule_table<Closure>) {
    static_assert(std::same_as<Rule, Closure>,
                  "record moves the gradient rule of an Edge away: give a lambda written in place or "
                  "std::move(rule), and each Edge a rule of its own");
    static_assert(
        std::invocable<Closure&, const Tensor&> || std::invocable<Closure&, const Tensor&, const Tensor&>,
        "the gradient rule of an Edge takes (const Tensor& g), or (const Tensor& g, const Tensor& y) "
        "with the result");
    static_assert(alignof(Closure) <= alignof(std::max_align_t));
  }
  /// A rule without a formula.
  template <class Rule>
  Edge(const Operand& x, Rule&& f) : Edge(x, nullptr, std::forward<Rule>(f)) {}
  bool needs_gradient() const { return table && input.requires_grad(); }

  const Operand& input;
  const char* text = nullptr;
  void* rule = nullptr;
  const detail::RuleTable* table = nullptr;
};

/// Gradients of all inputs of a joint rule, in their order; undefined means zero.
using Gradients = std::vector<Tensor>;
/// One rule for inputs whose gradients share work: (g, y) -> gradients.
using JointRule = std::function<Gradients(const Tensor& g, const Tensor& y)>;
/// An operation in public operations: inputs -> result.
using ReferenceFunction = std::function<Tensor(const std::vector<Tensor>& inputs)>;

/// The record of one operation, or a leaf that accumulates a gradient. A node refers to the nodes of its
/// inputs, never to its own result: the result refers to the node, so that would be a cycle. A rule that
/// needs the values of the result reads `result`, which has no graph.
class Node : public AutogradMeta {
 public:
  /// An input and the rule of its gradient; without a node it needs no gradient.
  struct Input {
    Ref<Node> node;
    const char* text = nullptr;  ///< Formula of the rule, see Edge.
    const detail::RuleTable* table = nullptr;
    void* rule = nullptr;
  };
  /// The rule of an operation whose gradients share work.
  struct Joint {
    JointRule rule;
    ReferenceFunction reference;
    std::shared_ptr<const Recomputation> source;
  };

  /// Makes the node of a leaf with the shape and dtype of `value`, or one with inputs, which record() fills
  /// in together with `rule_bytes` of rules.
  static Node& make(const char* name, const Tensor& value, SourceLocation line = {}, size_t inputs = 0,
                    size_t rule_bytes = 0);
  /// The node of x, null if it needs no gradient.
  static Node* of(const Tensor& x) {
    const AutogradMeta* meta = TensorImpl::of(x).autograd.get();
    return meta ? meta->node : nullptr;
  }

  bool is_leaf() const { return input_count == 0; }
  Input* inputs() { return reinterpret_cast<Input*>(this + 1); }
  const Input* inputs() const { return reinterpret_cast<const Input*>(this + 1); }
  /// Bytes that a rule takes in the block: a multiple of the strictest alignment.
  static constexpr size_t rule_space(size_t size) {
    constexpr size_t alignment = alignof(std::max_align_t);
    return (size + alignment - 1) / alignment * alignment;
  }
  /// Where the rules begin in the block.
  char* rules() {
    return reinterpret_cast<char*>(this) + rule_space(sizeof(Node) + sizeof(Input) * size_t(input_count));
  }

  /// Runs the rules with the gradient `g` of the result: calls accumulate(node, gradient) for the node of
  /// each input for which wants(node) is true.
  void for_each_input_gradient(const Tensor& g, auto&& wants, auto&& accumulate);
  /// Frees the rules, the tensors that they saved, and the hooks; the structure of the graph stays.
  void release_saved();

  /// Frees the node and the nodes that only it refers to, without recursion.
  void release() noexcept override;

  const char* name;                          ///< Name of the operation, a copy in the node's block.
  const char* module = detail::module_path;  ///< Path of the module that ran the operation, or "".
  SourceLocation line;
  Shape shape;  ///< Shape of the result.
  DType dtype;  ///< Type of the result.
  bool retains_grad = false;
  bool released = false;
  bool needs_gradient = true;  ///< In the running pass: leads to a tensor whose gradient is wanted.
  int32_t input_count = 0;
  uint32_t bytes = 0;    ///< Size of the node's block.
  uint64_t pass_id = 0;  ///< The running backward pass, 0 outside.
  Tensor incoming;       ///< Sum of the gradients that reached it in this pass.
  GradientSlot* slot = nullptr;
  std::unique_ptr<Hooks<std::function<Tensor(const Tensor&)>>> hooks;
  std::unique_ptr<Joint> joint;
  Tensor result;           ///< Values of the result, only if a rule reads them.
  int64_t result_version;  ///< Version of the result's storage when the operation was recorded.

 private:
  Node(const char* name, const Tensor& value, SourceLocation line, int32_t inputs, size_t bytes);
  Tensor result_with_graph();
  Gradients joint_gradients(const Tensor& g);

  Node* next_freed_ = nullptr;
};

/// Records `value` as the result of an operation with these gradient rules, and returns it. Records nothing
/// if no input needs a gradient. Copies the name; passes the attributes to observers (observer.h).
Tensor record(const char* name, Tensor value, std::initializer_list<Edge> edges, Attributes attributes = {});

/// The same for an operation whose gradients share work.
///
/// Note [Reference implementations]: such an operation also provides its forward as a composition of
/// public operations, `reference`. If a derivative of the gradient is wanted, the engine runs the reference
/// on fresh views of the inputs and differentiates it, so no second derivative is written by hand.
/// HEED_REFERENCE=1 runs it instead of the fast operation, and tests compare the two. Without a reference
/// (null) the rule itself consists of public operations, and its second argument is undefined.
///
/// `recompute` computes the value again from the inputs, with the same bits, for Note [Recomputed values];
/// the rule's second argument is then undefined. `texts` are the formulas of the gradients, see Edge.
Tensor record(const char* name, Tensor value, const std::vector<Operand>& inputs, JointRule rule,
              ReferenceFunction reference, ReferenceFunction recompute = nullptr, Attributes attributes = {},
              std::initializer_list<const char*> texts = {});

void Node::for_each_input_gradient(const Tensor& g, auto&& wants, auto&& accumulate) {
  const OpScope rule(name, line, OpScope::Role::rule, module);
  Gradients gradients = joint ? joint_gradients(g) : Gradients();
  const Tensor y = result.defined() && !joint ? result_with_graph() : Tensor();
  for (int32_t i = 0; i < input_count; ++i) {
    Input& input = inputs()[i];
    if (!input.node || !wants(*input.node)) continue;
    Tensor dx = joint ? std::move(gradients[static_cast<size_t>(i)]) : input.table->call(input.rule, g, y);
    if (dx.defined()) accumulate(*input.node, std::move(dx));
  }
}

}  // namespace heed
