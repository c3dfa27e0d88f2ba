#pragma once

#include <variant>

#include "autograd/grad_mode.h"
#include "tensor/tensor.h"

/// Observers: classes that see what a thread computes, without a change to the program they watch.
namespace heed {

class Module;

/// A named argument of an operation that is no operand: {"dim", 1}, {"eps", 1e-5}, {"mask", mask}. Refers to
/// shapes and tensors, so it is valid only during the call that receives it. std::get_if reads the value.
struct Attribute {
  using Value = std::variant<bool, int64_t, double, const char*, const Shape*, const std::vector<int64_t>*,
                             const Tensor*>;

  Attribute(const char* key, Value x) : name(key), value(x) {}
  Attribute(const char* key, const Shape& x) : name(key), value(&x) {}
  Attribute(const char* key, const std::vector<int64_t>& x) : name(key), value(&x) {}
  Attribute(const char* key, const Tensor& x) : name(key), value(&x) {}

  const char* name;
  Value value;
};
using Attributes = std::initializer_list<Attribute>;  ///< Attributes of one call.

/// One call of an operation, as observers see it.
struct Operation {
  const char* name;
  SourceLocation line;                ///< Line of the user's call.
  const std::vector<Tensor>& inputs;  ///< Operands in order; an optional one that was not given is undefined.
  Attributes attributes;  ///< What determines the value, besides operands and its own shape and dtype.
  bool recording;         ///< False under NoGrad.
};

/// Sees the computations of its thread during its lifetime. Derive from it and override what you need:
///
///   class CountProducts : public Observer {
///    public:
///     int count = 0;
///    private:
///     void on_result(const Operation& op, const Tensor&) override { count += op.name == "matmul"sv; }
///   };
///   CountProducts products;
///   model(x);
///   std::printf("%d products\n", products.count);
///
/// The functions run under NoGrad and may compute; no observer sees what they compute. They may throw: the
/// exception leaves the operation. Several observers may exist and end in any order, each in the thread that
/// created it. Without an observer an operation only tests one pointer.
class Observer {
 public:
  Observer() : next_(std::exchange(detail::observers, this)) {}
  virtual ~Observer();
  Observer(Observer&&) = delete;  // nor copied or assigned

  /// Whether this thread has an observer.
  static bool any() { return detail::observers != nullptr; }
  /// Whether an observer of this thread wants attention weights, which fused attention computes only then.
  static bool any_wants_attention();
  /// Calls notify(observer) for each observer of this thread, under NoGrad and unobserved.
  [[gnu::cold]] static void each(auto&& notify) {
    const NoGrad guard;
    const struct Unobserved {
      ~Unobserved() { detail::observers = all; }
      Observer* const all = std::exchange(detail::observers, nullptr);
    } unobserved;
    for (Observer* observer = unobserved.all; observer; observer = observer->next_) notify(*observer);
  }

  /// An operation that the user called begins, or a gradient rule; operations inside it are part of it.
  virtual void on_begin(const OpScope&) {}
  virtual void on_end(const OpScope&) {}
  /// An operation computed `value`, whether it is recorded or not. Operations in place are not seen here.
  virtual void on_result(const Operation&, const Tensor& /*value*/) {}
  /// The operation was recorded as `node`; follows on_result.
  virtual void on_recorded(const Operation&, const Tensor& /*value*/, Node& /*node*/) {}

  /// The gradient `g` of the node's result is complete, and its rule runs next. Node::pass_id distinguishes
  /// backward passes.
  virtual void on_backward(Node& /*node*/, const Tensor& /*g*/) {}
  /// The rule of the last node of on_backward returned `g` for an input. `summed`: after the engine summed
  /// over broadcast dimensions.
  virtual void on_gradient(Node& /*input*/, const Tensor& /*g*/, bool /*summed*/) {}
  /// The gradient that this pass adds to a leaf is complete; other leaves may still be waiting for theirs.
  virtual void on_leaf_gradient(Node& /*leaf*/, const Tensor& /*g*/) {}

  /// A module is called; the inputs are the tensors among its arguments.
  virtual void on_module_begin(const Module&, const std::vector<Tensor>& /*inputs*/) {}
  /// A module returned this tensor; once for each tensor of its result.
  virtual void on_module_end(const Module&, const Tensor& /*output*/) {}

  /// Attention computed these weights, [..., Tq, Tk]. Only if wants_attention().
  virtual void on_attention(const Tensor& /*weights*/) {}
  virtual bool wants_attention() const { return false; }

 private:
  Observer* next_;
};

}  // namespace heed
