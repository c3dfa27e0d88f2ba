#pragma once

#include "nn/module_call.h"
#include "nn/parameter.h"
#include "nn/state_dict.h"

/// The base of every layer and model: members with names, a call, hooks, a state dict.
namespace heed {

class Visitor;

/// A parameter or buffer with its path.
struct NamedTensor {
  std::string name;  ///< "encoder.layers.0.weight"
  Tensor tensor;     ///< shares the values
};

/// A module with its path.
template <class AnyModule>
struct Named {
  std::string name;  ///< "encoder.layers.0"
  AnyModule* module;
};
using NamedModule = Named<Module>;             ///< a module with its path
using ConstNamedModule = Named<const Module>;  ///< a module with its path

/// A class with a `visit`: a module, or a part of one such as an attention score.
template <class T>
concept Visitable = requires(T& part, Visitor& v) { part.visit(v); };

/// Walks the members of a module by its `visit`. The path of names that leads to each member is its name in
/// the state dict: "encoder.layers.0.weight".
class Visitor {
 public:
  virtual ~Visitor() = default;

  /// A parameter.
  void operator()(std::string_view name, Parameter& member) { tensor(name, member, true); }
  /// A buffer. One that is not persistent follows to(dtype) but is not part of the state dict.
  void operator()(std::string_view name, Buffer& member, bool persistent = true) {
    tensor(name, member, persistent);
  }
  /// A child module.
  void operator()(std::string_view name, Module& member) {
    inside(name, [&] { module(path_, member); });
  }
  /// A part that is no module and has a `visit`.
  template <Visitable Part>
    requires(!std::is_base_of_v<Module, Part>)
  void operator()(std::string_view name, Part& member) {
    inside(name, [&] { member.visit(*this); });
  }
  /// The elements of a list, by their numbers: layers.0, layers.1.
  template <class Member>
  void operator()(std::string_view name, std::vector<Member>& members) {
    inside(name, [&] {
      size_t number = 0;
      for (Member& member : members) (*this)(std::to_string(number++), member);
    });
  }
  /// The value of an optional or a pointer, if there is one.
  template <class Pointer>
    requires requires(Pointer& p) { static_cast<bool>(p), p.operator*(); }
  void operator()(std::string_view name, Pointer& member) {
    if (member) (*this)(name, *member);
  }

 protected:
  /// Called for every parameter and buffer that is defined.
  virtual void member(const std::string& path, OwnedTensor& tensor, bool persistent) = 0;
  /// Called for every module; calls module.visit(*this) to go on into it.
  virtual void module(const std::string& path, Module& module) = 0;

 private:
  void tensor(std::string_view name, OwnedTensor& tensor, bool persistent);
  /// Calls f with `name` appended to the path.
  void inside(std::string_view name, const std::function<void()>& f);
  std::string path_;
};

/// The base of all layers and models: members with names. Derive from Layer<Self>, not from this.
class Module {
 public:
  Module() = default;  ///< In training, without hooks.
  Module(const Module& other) = default;
  Module(Module&& other) noexcept;  ///< Takes the hooks along.
  Module& operator=(const Module& other) = default;
  virtual ~Module() = default;

  /// Names every parameter, buffer and child once: v("weight", weight). Nothing else has to be registered.
  virtual void visit(Visitor&) {}

  /// Each parameter once, tied ones under their first name. The tensors are the parameters themselves.
  std::vector<Tensor> parameters() const;
  /// The same with their paths.
  std::vector<NamedTensor> named_parameters() const { return named(true); }
  /// Each buffer once, with its path.
  std::vector<NamedTensor> named_buffers() const { return named(false); }
  /// This module under "", then all modules inside, each once.
  std::vector<NamedModule> named_modules();
  /// The same of a const module.
  std::vector<ConstNamedModule> named_modules() const;
  int64_t parameter_count() const;  ///< Number of elements of all parameters.

  /// All parameters and persistent buffers under all their names. They share the values: clone them to keep
  /// a copy.
  StateDict state_dict() const;
  /// Writes the values into the parameters and buffers of the same names, converting float32 and float64.
  /// If any name is missing, unexpected or has another shape, throws one table of them and changes nothing;
  /// with strict = false missing and unexpected names are returned instead. One of several tied names is
  /// enough.
  LoadReport load_state_dict(const StateDict& state, bool strict = true,
                             SourceLocation line = SourceLocation::current());
  /// The first phase of a strict load: does everything that may throw.
  PreparedLoad prepare_load(const StateDict& state, SourceLocation line = SourceLocation::current());

  /// Switches between training, the initial state, and evaluation. It changes layers such as Dropout, and
  /// nothing about gradients; NoGrad stops those.
  void train(bool training = true);
  void eval() { train(false); }  ///< train(false)
  /// Whether it is in training.
  bool training() const { return training_ && !detail::EvaluationScope::active; }

  /// Converts all floating parameters and buffers in place.
  void to(DType dtype);
  /// Sets whether the parameters need gradients.
  void requires_grad_(bool requires_grad = true);
  /// Drops all gradients.
  void zero_grad();
  /// Calls f for every module inside, children before parents, and for this one last.
  void apply(const std::function<void(Module&)>& f);

  /// hook(module, inputs) before forward; the inputs are the tensors among the arguments.
  HookHandle register_forward_pre_hook(ForwardPreHook hook);
  /// hook(module, inputs, output) after forward, for each tensor that it returned; may replace it.
  HookHandle register_forward_hook(ForwardHook hook);
  /// hook(module, gradient) in backward, for each tensor that forward returned, when its gradient is complete
  /// and before the gradient is passed on into the module; may replace it.
  HookHandle register_backward_hook(BackwardHook hook);

  /// The name of the class: "Linear".
  std::string type_name() const;

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
  PreparedLoad prepare_load(const StateDict& state, bool strict, LoadReport& report, SourceLocation line);
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
/// The call runs the hooks and adds the module's path and the caller's line to errors (the line only if the
/// first argument is a tensor); otherwise it is forward(arguments...). C++ cannot deduce the type of an
/// argument in braces, so write it: m(q, AttentionOptions{.need_weights = true}).
template <class Self>
class Layer : public Module {
 public:
  /// layer(x, ...) is forward(x, ...).
  template <class... Args>
  auto operator()(detail::LayerInput x, Args&&... args) const
    requires(detail::Forwards<const Self, const Tensor&, Args...>)
  {
    return detail::call_forward(static_cast<const Self&>(*this), x.line, x.tensor,
                                std::forward<Args>(args)...);
  }
  /// The same for a forward that is not const.
  template <class... Args>
  auto operator()(detail::LayerInput x, Args&&... args)
    requires(detail::Forwards<Self, const Tensor&, Args...>)
  {
    return detail::call_forward(static_cast<Self&>(*this), x.line, x.tensor, std::forward<Args>(args)...);
  }
  /// layer(...) where the first argument is no tensor.
  template <class... Args>
  auto operator()(Args&&... args) const
    requires(!detail::kTensorFirst<Args...> && detail::Forwards<const Self, Args...>)
  {
    return detail::call_forward(static_cast<const Self&>(*this), {}, std::forward<Args>(args)...);
  }
  /// The same for a forward that is not const.
  template <class... Args>
  auto operator()(Args&&... args)
    requires(!detail::kTensorFirst<Args...> && detail::Forwards<Self, Args...>)
  {
    return detail::call_forward(static_cast<Self&>(*this), {}, std::forward<Args>(args)...);
  }
};

}  // namespace heed
