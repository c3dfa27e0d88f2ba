#pragma once

#include <mutex>
#include <new>

#include "autograd/grad_mode.h"
#include "autograd/hooks.h"
#include "autograd/operand.h"
#include "tensor/tensor.h"

/// How an operation is recorded: record() and its edges, and the nodes that these become.
namespace heed {

class Node;

/// The gradient of a leaf, or of another tensor after retain_grad().
///
/// Note [Kept gradients]: with create_graph a gradient has a history, which leads back to the node of the
/// tensor that it belongs to. If that node owned it, the two would keep each other alive for ever. So the
/// tensor's body owns it, and no graph owns that body: gradient rules save a stand-in, a second body of the
/// same values and node. The gradient goes with the last handle of its tensor, whatever else is kept.
class GradientSlot : public AutogradMeta {
 public:
  /// From now on the node of `x` finds its gradient here.
  explicit GradientSlot(const Tensor& x);
  ~GradientSlot() override;

  const Tensor graph_alias;  ///< a second body of the same values and node
  const bool
      created_after_save;  ///< a rule holds the body itself: a gradient with a history would never be freed
  Tensor gradient;         ///< undefined before the first one

 private:
  const Ref<Node> node_;
};

/// A tensor kept by a gradient rule. Reading it back checks that nobody has written into it since; see
/// Note [Versions] in tensor/storage.h. Capture by `[b = save(b)]` and read by `b()`.
///
/// Note [Values made again]: what costs little beside a product, an activation or a norm, is not kept by
/// those who save it. They keep a body without storage and the means to compute the values from the
/// operation's own inputs, which it saves anyhow: gpt_step takes a third less memory by it. Who reads it back
/// does not see the difference.
class Saved {
 public:
  /// Remembers the tensor and its version.
  explicit Saved(const Tensor& tensor) {
    if (!tensor.defined()) return;
    TensorImpl& body = TensorImpl::of(tensor);
    if (body.cheap) [[unlikely]]
      tensor_ = without_values(tensor);
    if (tensor_.defined()) return;
    if (body.companion) {
      tensor_ = static_cast<const GradientSlot&>(*body.companion).graph_alias;
    } else {
      body.saved.store(true, std::memory_order_relaxed);
      tensor_ = tensor;
    }
    version_ = body.storage->version;
  }
  /// The tensor. Errors: somebody has written into it since.
  const Tensor& operator()() const {
    if (!tensor_.defined()) return tensor_;
    const Storage* storage = TensorImpl::of(tensor_).storage.get();
    if (!storage || storage->version != version_) [[unlikely]]
      storage ? overwritten() : recompute();
    return tensor_;
  }

  /// How many operations would be made again one for the other to read it: see Note [Values made again].
  int64_t depth() const;

 private:
  static Tensor without_values(const Tensor& x);  // undefined where they cannot be made again any more
  void recompute() const;
  [[noreturn]] void overwritten() const;
  Tensor tensor_;
  mutable int64_t version_ = 0;
};

/// How a rule captures a tensor.
inline Saved save(const Tensor& tensor) { return Saved(tensor); }

namespace detail {

/// How to handle a closure whose type has been forgotten: a gradient rule inside a node.
struct RuleTable {
  size_t size;
  bool reads_result;
  void (*move)(void* to, void* from);
  Tensor (*call)(void* rule, const Tensor& g, const Tensor& y);
  void (*destroy)(void* rule);
};

template <class Rule>
inline constexpr RuleTable rule_table = {
    sizeof(Rule),
    !std::invocable<Rule&, const Tensor&>,
    [](void* to, void* from) { new (to) Rule(std::move(*static_cast<Rule*>(from))); },
    [](void* rule, const Tensor& g, const Tensor& y) -> Tensor {
      if constexpr (std::invocable<Rule&, const Tensor&>)
        return (*static_cast<Rule*>(rule))(g);
      else if constexpr (std::invocable<Rule&, const Tensor&, const Tensor&>)
        return (*static_cast<Rule*>(rule))(g, y);
    },
    [](void* rule) { static_cast<Rule*>(rule)->~Rule(); },
};

/// The path of the module whose forward is running in this thread, "" outside; nn sets it.
inline thread_local constinit const char* module_path = "";

}  // namespace detail

/// An input of an operation and the formula of its gradient:
///
///   {a, [b = save(b)](const Tensor& g) { return g * b(); }}
///
/// `g` is the incoming gradient; a rule of two arguments also gets `y`, the result. Returning an undefined
/// tensor means zero. An edge refers to the closure, which `record` moves into the node, and lives no longer
/// than that call: so the closure is a temporary, or one that is given away with std::move.
class Edge {
 public:
  /// `rule` is (g) -> gradient, or (g, y) -> gradient.
  template <class Rule, class Closure = std::remove_cvref_t<Rule>>
  Edge(const Operand& input, Rule&& rule)
      : input(input), rule(const_cast<Closure*>(&rule)), table(&detail::rule_table<Closure>) {
    static_assert(std::same_as<Rule, Closure>,
                  "record moves the gradient rule of an Edge away: give a lambda written in place or "
                  "std::move(rule), and each Edge a rule of its own");
    static_assert(
        std::invocable<Closure&, const Tensor&> || std::invocable<Closure&, const Tensor&, const Tensor&>,
        "the gradient rule of an Edge takes (const Tensor& g), or (const Tensor& g, const Tensor& y) "
        "with the result");
    static_assert(alignof(Closure) <= alignof(std::max_align_t));
  }

  const Operand& input;            ///< whose gradient it is
  void* rule;                      ///< the closure
  const detail::RuleTable* table;  ///< how to handle it
};

/// The gradients of all inputs of a joint rule, in their order; undefined means zero.
using Gradients = std::vector<Tensor>;
/// One rule for inputs whose gradients share work: (g, y) -> gradients.
using JointRule = std::function<Gradients(const Tensor& g, const Tensor& y)>;
/// The forward of a joint rule in public operations: inputs -> result. See Note [Reference implementations]
/// at record.
using ReferenceFunction = std::function<Tensor(const std::vector<Tensor>& inputs)>;

/// The record of one operation, or a leaf that gathers a gradient. A node knows its inputs' nodes, never its
/// own result: the result's body holds the node, so the other way round would be a cycle. A node that needs
/// the result's values keeps a view of them without history.
class Node : public GraphNode {
 public:
  /// An input and the rule of its gradient.
  struct Input {
    Ref<Node> node;                            ///< null when this input needs no gradient
    const detail::RuleTable* table = nullptr;  ///< how to handle the rule
    void* rule = nullptr;                      ///< the closure, in this node's block
  };
  /// What a result is computed from; shared with those who make it again. Depth counts the operations that
  /// are made again one for the other: past kMaxRecomputeDepth values are kept, lest a long chain overflow
  /// the stack.
  struct Source {
    const char* name;                                  ///< of the operation
    SourceLocation line;                               ///< where it was called
    std::vector<Saved> inputs;                         ///< of the operation
    ReferenceFunction again;                           ///< inputs -> result, the same bits
    int64_t depth = 0;                                 ///< operations that are made again one for the other
    static constexpr int64_t kMaxRecomputeDepth = 16;  ///< past this, values are kept
  };
  /// The rule of an operation whose gradients share work.
  struct Joint {
    JointRule rule;                        ///< all gradients at once
    ReferenceFunction twin;                ///< the forward in public operations, or null
    std::shared_ptr<const Source> source;  ///< null where the result is kept
  };

  /// Gives x a node that gathers its gradient.
  static void make_leaf(const Tensor& x);
  /// The node of x, null where it needs no gradient.
  static Node* of(const Tensor& x) { return static_cast<Node*>(TensorImpl::of(x).history.get()); }

  /// Whether no operation made its tensor.
  bool is_leaf() const { return input_count == 0; }
  /// input_count of them, behind the node in its block.
  Input* inputs() { return reinterpret_cast<Input*>(this + 1); }
  /// The same of a const node.
  const Input* inputs() const { return reinterpret_cast<const Input*>(this + 1); }

  /// Given the gradient of the result, calls deliver(node of the input, its gradient) for every input whose
  /// node wants(node) one.
  template <class Wants, class Deliver>
  void differentiate(const Tensor& g, Wants&& wants, Deliver&& deliver);
  /// Held by who reads or writes a kept gradient: the tensor that it goes with may go at any time.
  static std::unique_lock<std::mutex> lock_slots();
  /// The gradient gathered so far, while somebody holds the tensor: of leaves, and after retain_grad().
  Tensor gradient() const { return kept ? kept->gradient : Tensor(); }
  /// The old one comes out in `g`, to be let go of without the lock.
  void swap_gradient(Tensor& g) {
    if (kept) std::swap(kept->gradient, g);
  }
  /// Throws where swap_gradient(g) would make a cycle that is never freed.
  void check_gradient(const Tensor& g) const;
  /// Drops the rules, what they saved, and the hooks; the graph's outline stays.
  void forget();
  void release() noexcept override;  ///< Frees it, and what it alone holds, without recursion.

  const char* name;              ///< a copy in this node's block
  const char* module;            ///< path of the module that ran this, or ""
  SourceLocation line;           ///< where the operation was called
  Shape shape;                   ///< of the result
  DType dtype;                   ///< of the result
  bool keeps_grad = false;       ///< whether retain_grad() was called
  bool leads = true;             ///< to an input whose gradient the running pass wants
  bool forgotten = false;        ///< see forget()
  int32_t input_count = 0;       ///< of the operation; 0 for a leaf
  uint32_t bytes = 0;            ///< of its block
  uint64_t run = 0;              ///< the backward pass that is using this node, 0 for none
  Tensor pending;                ///< the gradient gathered so far in that pass
  GradientSlot* kept = nullptr;  ///< see lock_slots
  std::unique_ptr<Hooks<std::function<Tensor(const Tensor&)>>> hooks;  ///< of its tensor; null: none
  std::unique_ptr<Joint> joint;  ///< null where each edge has a rule of its own
  Tensor result;                 ///< without history; only for rules that read it
  int64_t result_version = 0;    ///< of the result when it was recorded

 private:
  friend Tensor record(const char*, Tensor, std::initializer_list<Edge>);
  friend Tensor record(const char*, Tensor, const std::vector<Operand>&, JointRule, ReferenceFunction,
                       ReferenceFunction);
  Node(const char* name, const Tensor& value, SourceLocation line, int32_t inputs, size_t bytes);
  static Node& make(const char* name, const Tensor& value, SourceLocation line, size_t inputs,
                    size_t rule_bytes);
  void keep_result(const Tensor& value);
  Tensor result_with_history();
  Gradients joint_gradients(const Tensor& g);
  void destroy() noexcept;

  Node* next_ = nullptr;  // in the list of nodes to free
};

/// Attaches to `value`, freshly computed, how to differentiate it. Does nothing when nothing needs a
/// gradient. The name is copied.
Tensor record(const char* name, Tensor value, std::initializer_list<Edge> edges);

/// The same for an operation whose gradients share work.
///
/// Note [Reference implementations]: such an operation comes with its forward written in public operations.
/// When a derivative of the gradient is wanted, the engine runs the twin on fresh views of the inputs and
/// differentiates that, so no second derivative is ever written by hand. The twin is also what runs under
/// HEED_REFERENCE=1, and what tests hold the fast form against. Without a twin (null) the rule itself must be
/// in public operations, and its second argument is undefined.
///
/// `again` computes the value from the inputs a second time, the same bits, for Note [Values made again]; the
/// rule's second argument is then undefined.
Tensor record(const char* name, Tensor value, const std::vector<Operand>& inputs, JointRule rule,
              ReferenceFunction twin, ReferenceFunction again = nullptr);

/// Sees what its thread records and differentiates, from the day it is made until it is destroyed, in that
/// thread; the `Tape` of nn/view is one. It may compute, but must record nothing: its functions run inside
/// NoGrad.
class Watcher {
 public:
  Watcher() : next_(std::exchange(first_, this)) {}
  virtual ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  /// An operation gave `value`, whether anything is recorded or not; an input that was not given is
  /// undefined.
  virtual void computed(const char*, const Tensor&, const std::vector<Tensor>&) {}
  /// It was recorded, too: this is its node.
  virtual void recorded(Node& node, const Tensor& value, const std::vector<Tensor>& inputs) = 0;
  /// The gradient of a node's result is complete, and its rule runs next. node.run tells one pass from
  /// another.
  virtual void turn(Node& node, const Tensor& g) = 0;
  /// The rule of the node that had its turn gave an input this much, after summing over what had been
  /// broadcast.
  virtual void arrived(Node& input, const Tensor& g, bool summed) = 0;

  /// Whether this thread has one.
  static bool any() { return first_ != nullptr; }
  /// For its functions: whether the thread records what it computes, its watchers apart.
  static bool recording() { return recording_; }
  /// Calls tell(watcher) for each of this thread.
  template <class Tell>
  static void each(Tell&& tell) {
    recording_ = grad_enabled();
    const NoGrad nothing_recorded;
    const struct Unwatched {  // what they compute
      ~Unwatched() { first_ = all; }
      Watcher* const all = std::exchange(first_, nullptr);
    } watchers;
    for (Watcher* watcher = watchers.all; watcher; watcher = watcher->next_) tell(*watcher);
  }

 private:
  static inline thread_local constinit Watcher* first_ = nullptr;
  static inline thread_local constinit bool recording_ = true;  // when it was last told of something
  Watcher* next_;
};

namespace detail {
/// A node on the way down a graph, and which of its inputs comes next.
struct Step {
  Node* node;
  int32_t next;
};

/// Walks the graph behind `root`, depth first: leave(node) is called for every node that enter(node) lets in,
/// inputs first. Each time that a node is met enter() is asked, so it lets each in once; whom it lets in is
/// on the stack, also when something throws. `stack` is empty at the start and the end; it is not the
/// machine's, since graphs are deep.
template <class Stack, class Enter, class Leave>
void walk(Node& root, Stack& stack, Enter&& enter, Leave&& leave) {
  const auto meet = [&](Node& node) {
    if (stack.size() == stack.capacity()) stack.reserve(2 * stack.size() + 16);
    if (enter(node)) stack.push_back({&node, 0});
  };
  meet(root);
  while (!stack.empty()) {
    Node& node = *stack.back().node;
    if (stack.back().next < node.input_count) {
      Node* input = node.inputs()[stack.back().next++].node.get();
      if (input) meet(*input);
    } else {
      leave(node);
      stack.pop_back();
    }
  }
}
}  // namespace detail

/// True when operations with a twin run the twin: at the start when HEED_REFERENCE=1 is set.
bool reference_mode();
/// Switches that on or off.
void set_reference_mode(bool on);

template <class Wants, class Deliver>
void Node::differentiate(const Tensor& g, Wants&& wants, Deliver&& deliver) {
  const OpScope rule(name, line, OpScope::Role::rule);
  Gradients together = joint ? joint_gradients(g) : Gradients();
  const Tensor y = result.defined() && !joint ? result_with_history() : Tensor();
  for (int32_t i = 0; i < input_count; ++i) {
    Input& input = inputs()[i];
    if (!input.node || !wants(*input.node)) continue;
    Tensor gradient =
        joint ? std::move(together[static_cast<size_t>(i)]) : input.table->call(input.rule, g, y);
    if (gradient.defined()) deliver(*input.node, std::move(gradient));
  }
}

}  // namespace heed
