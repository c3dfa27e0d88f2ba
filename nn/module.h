#pragma once

#include "nn/module_call.h"
#include "nn/parameter.h"
#include "nn/state_dict.h"

/// The base of every layer and model: named members, training mode, hooks, a state dict.
namespace heed {

class Visitor;

/// A parameter or buffer with its path, "encoder.layers.0.weight". Shares the values.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// A module with its path, "encoder.layers.0".
template <class AnyModule>
struct Named {
  std::string name;
  AnyModule* module;
};
using NamedModule = Named<Module>;             ///< A module with its path.
using ConstNamedModule = Named<const Module>;  ///< A const module with its path.

/// A class with a `visit`: a module, or a part of one such as an attention score.
template <class T>
concept Visitable = requires(T& part, Visitor& v) { part.visit(v); };

/// Visits the members of a module by its `visit`. The path to a member, "encoder.layers.0.weight", is its
/// name in the state dict.
class Visitor {
 public:
  virtual ~Visitor() = default;

  /// A parameter or buffer. If not persistent, it follows to(dtype) but is not in the state dict.
  void operator()(std::string_view name, OwnedTensor& tensor, bool persistent = true) {
    if (tensor.defined()) inside(name, [&] { member(path_, tensor, persistent); });
  }
  /// A child module.
  void operator()(std::string_view name, Module& child) {
    inside(name, [&] { module(path_, child); });
  }
  /// A part that is no module.
  template <Visitable Part>
    requires(!std::is_base_of_v<Module, Part>)
  void operator()(std::string_view name, Part& part) {
    inside(name, [&] { part.visit(*this); });
  }
  /// The elements of a list, named by number: layers.0, layers.1.
  template <class Member>
  void operator()(std::string_view name, std::vector<Member>& members) {
    inside(name, [&] {
      for (size_t i = 0; i < members.size(); ++i) (*this)(std::to_string(i), members[i]);
    });
  }
  /// The value of an optional or a pointer, if there is one.
  template <class Pointer>
    requires requires(Pointer& p) { static_cast<bool>(p), p.operator*(); }
  void operator()(std::string_view name, Pointer& pointer) {
    if (pointer) (*this)(name, *pointer);
  }
  /// Several members: v("W_q", W_q, "W_k", W_k).
  template <class First, class Second, class... More>
  void operator()(std::string_view name, First& first, std::string_view next, Second& second,
                  More&&... more) {
    (*this)(name, first);
    (*this)(next, second, more...);
  }

 protected:
  /// Called for every parameter and buffer that is defined.
  virtual void member(const std::string& path, OwnedTensor& tensor, bool persistent) = 0;
  /// Called for every module; calls module.visit(*this) to visit its members.
  virtual void module(const std::string& path, Module& module) = 0;

 private:
  /// Calls f with `name` appended to the path.
  void inside(std::string_view name, const std::function<void()>& f) {
    const size_t length = path_.size();
    if (!path_.empty() && !name.empty()) path_ += '.';
    path_ += name;
    f();
    path_.resize(length);
  }
  std::string path_;
};

/// The base of all layers and models. Derive from Layer<Self> instead.
class Module {
 public:
  Module() = default;
  Module(const Module& other) = default;  ///< Copies no hooks.
  Module(Module&& other) noexcept;        ///< Moves the hooks too.
  Module& operator=(const Module& other) = default;
  virtual ~Module() = default;

  /// Names every parameter, buffer and child once: v("weight", weight). No other registration is needed.
  virtual void visit(Visitor&) {}

  /// Each parameter once; a tied one has its first name. The tensors share the values.
  std::vector<Tensor> parameters() const;
  std::vector<NamedTensor> named_parameters() const { return named(true); }
  std::vector<NamedTensor> named_buffers() const { return named(false); }
  /// This module under "", then all modules inside, each once.
  std::vector<NamedModule> named_modules();
  std::vector<ConstNamedModule> named_modules() const;
  /// Number of elements of all parameters.
  int64_t parameter_count() const {
    int64_t count = 0;
    for (const Tensor& parameter : parameters()) count += parameter.numel();
    return count;
  }

  /// All parameters and persistent buffers under all their names. They share the values: clone them to keep
  /// a copy.
  StateDict state_dict() const;
  /// Writes values into the members of the same names, converting between float32 and float64. Throws one
  /// table of all missing and unexpected names and wrong shapes, and then changes nothing; with
  /// strict = false returns missing and unexpected names instead. One name of a tied member is enough.
  LoadReport load_state_dict(const StateDict& state, bool strict = true,
                             SourceLocation line = SourceLocation::current());
  /// The first phase of load_state_dict: does everything that may throw. Writes missing and unexpected names
  /// to `report` if it is given, else they throw.
  PreparedLoad prepare_load(const StateDict& state, LoadReport* report = nullptr,
                            SourceLocation line = SourceLocation::current());

  /// Switches between training, the initial state, and evaluation. This affects layers such as Dropout, but
  /// not gradients; NoGrad stops those.
  void train(bool training = true) {
    for (const NamedModule& part : named_modules()) part.module->training_ = training;
  }
  void eval() { train(false); }
  bool training() const { return training_ && !detail::EvaluationScope::active; }

  void to(DType dtype);  ///< Converts all floating parameters and buffers in place.
  void requires_grad_(bool requires_grad = true) {
    for (const Tensor& parameter : parameters()) parameter.requires_grad_(requires_grad);
  }
  /// Drops all gradients.
  void zero_grad() {
    for (const Tensor& parameter : parameters())
      if (parameter.requires_grad()) parameter.set_grad(Tensor());
  }
  /// Calls f for every module inside, children before parents, and for this one last.
  void apply(const std::function<void(Module&)>& f);

  /// Adds hook(module, inputs), called before forward with the tensors among its arguments.
  HookHandle register_forward_pre_hook(ForwardPreHook hook);
  /// Adds hook(module, inputs, output), called after forward for each tensor that it returned; may replace
  /// it.
  HookHandle register_forward_hook(ForwardHook hook);
  /// Adds hook(module, gradient), called in backward with the complete gradient of each tensor that forward
  /// returned; may replace it.
  HookHandle register_backward_hook(BackwardHook hook);

  std::string type_name() const;  ///< Name of the class: "Linear".

 private:
  friend class detail::ModuleCall;
  struct Member {
    std::string name;
    OwnedTensor* tensor;
    bool persistent;
  };
  class Walk;
  std::vector<Member> members() const;
  std::vector<NamedTensor> named(bool learned) const;
  detail::ModuleHooks& hooks();

  bool training_ = true;
  mutable detail::CallState call_state_;
};

/// The tree of modules, each with its type and the shapes of its own members:
///
///   Sequential(
///     (0): Linear(weight [128, 784], bias [128])
///     (1): ReLU()
///   )
std::string to_string(const Module& module);

/// The base of every layer and model; `Self` is the class itself. A layer is members, a constructor,
/// `forward` and `visit`; it is called like a function:
///
///   struct Scale : Layer<Scale> {
///     explicit Scale(int64_t features) : weight(ones({features})) {}
///     Tensor forward(const Tensor& x) const { return x * weight; }  // [..., features] -> same
///     void visit(Visitor& v) override { v("weight", weight); }
///
///     Parameter weight;
///   };
///   const Scale scale(3);
///   const Tensor y = scale(x);
///
/// The call is forward(arguments...). It also runs the hooks, and adds the module's path to errors and, if
/// the first argument is a tensor, the caller's line. C++ cannot deduce the type of an argument in braces, so
/// write it: m(q, AttentionOptions{.need_weights = true}).
template <class Self>
class Layer : public Module, public detail::CallOperator<Self> {};

}  // namespace heed
