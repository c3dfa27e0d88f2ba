#pragma once

#include <map>
#include <tuple>

#include "autograd/node.h"
#include "nn/parameter.h"

/// What every layer and model is: members with names, a call, hooks, a state dict.
namespace heed {

class Module;
class Visitor;

/// A parameter or buffer with its path.
struct NamedTensor {
  std::string name;  ///< "encoder.layers.0.weight"
  Tensor tensor;     ///< the parameter or buffer itself
};

/// A module with its path.
template <class AnyModule>
struct Named {
  std::string name;   ///< "encoder.layers.0"
  AnyModule* module;  ///< the module itself
};
using NamedModule = Named<Module>;             ///< a module with its path
using ConstNamedModule = Named<const Module>;  ///< a module with its path

/// Values by name, under the names that PyTorch gives them.
using StateDict = std::map<std::string, Tensor>;

/// Anything that names its learning members, module or not: a score, a normaliser.
template <class T>
concept Visitable = requires(T& part, Visitor& v) { part.visit(v); };

/// Learns the members of a module from its `visit`, and keeps the path of names that leads to each:
/// "encoder.layers.0.weight".
class Visitor {
 public:
  virtual ~Visitor() = default;

  /// A parameter.
  void operator()(std::string_view name, Parameter& member) { tell(name, member, true); }
  /// A buffer that is not persistent follows to(dtype) but is not part of the state dict.
  void operator()(std::string_view name, Buffer& member, bool persistent = true) {
    tell(name, member, persistent);
  }
  /// A module inside.
  void operator()(std::string_view name, Module& member) {
    inside(name, [&] { module(path_, member); });
  }
  /// A part that is no module and has a `visit`.
  template <Visitable Part>
    requires(!std::is_base_of_v<Module, Part>)
  void operator()(std::string_view name, Part& member) {
    inside(name, [&] { member.visit(*this); });
  }
  /// Lists are numbered: layers.0, layers.1.
  template <class Member>
  void operator()(std::string_view name, std::vector<Member>& members) {
    inside(name, [&] {
      size_t number = 0;
      for (Member& member : members) (*this)(std::to_string(number++), member);
    });
  }
  /// Optional members and those behind a pointer, where there is one.
  template <class Pointer>
    requires requires(Pointer& p) { static_cast<bool>(p), p.operator*(); }
  void operator()(std::string_view name, Pointer& member) {
    if (member) (*this)(name, *member);
  }

 protected:
  /// A parameter or a buffer that is defined, by its path.
  virtual void member(const std::string& path, OwnedTensor& tensor, bool persistent) = 0;
  /// Goes into the module, by its `visit`.
  virtual void module(const std::string& path, Module& module) = 0;

 private:
  void tell(std::string_view name, OwnedTensor& tensor, bool persistent);
  /// Calls f while the path ends with this name.
  void inside(std::string_view name, const std::function<void()>& f);
  std::string path_;
};

/// A hook may return nothing, or a tensor to go on with instead of the one it was given.
template <class... Args>
struct Hook : std::function<Tensor(Args...)> {
  /// Any function of these arguments.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Hook> && std::is_invocable_v<F&, Args...>)
  Hook(F f)
      : std::function<Tensor(Args...)>([f = std::move(f)](Args... args) mutable -> Tensor {
          if constexpr (std::is_void_v<std::invoke_result_t<F&, Args...>>)
            return f(args...), Tensor();
          else
            return f(args...);
        }) {}
};
/// hook(module, inputs)
using ForwardPreHook = std::function<void(const Module&, const std::vector<Tensor>& inputs)>;
/// hook(module, inputs, output)
using ForwardHook = Hook<const Module&, const std::vector<Tensor>&, const Tensor&>;
/// hook(module, gradient)
using BackwardHook = Hook<const Module&, const Tensor&>;

namespace detail {

class ModuleCall;
struct ModuleHooks;

/// What belongs to this very module and not to its copies: its hooks, and its place in the outermost module
/// that it was last called in. Copies start without; an assignment keeps the hooks and forgets the place,
/// since the members may have changed places.
struct Own {
  Own() = default;
  Own(const Own&) noexcept {}
  Own& operator=(const Own& other) noexcept {
    if (this == &other) return *this;
    root = 0;
    id = ++ids;
    return *this;
  }
  std::shared_ptr<ModuleHooks> hooks;
  std::atomic<uint64_t> id = ++ids;    // of this module as an outermost one
  std::atomic<uint64_t> root = 0;      // id of the outermost module that `path` starts from; 0: none yet
  std::atomic<const char*> path = "";  // kept for ever, see Note [Module paths]
  inline static std::atomic<uint64_t> ids = 0;
};

/// Sees all calls of modules in this thread while it lives, without a change to any of them. The modules
/// behave as in eval meanwhile.
class CallObserver {
 public:
  CallObserver() : outer_(std::exchange(current, this)) {}
  virtual ~CallObserver() { current = outer_; }
  CallObserver(const CallObserver&) = delete;
  CallObserver& operator=(const CallObserver&) = delete;
  virtual void before(const Module& module, const std::vector<Tensor>& inputs) = 0;
  /// For each tensor that the call returned.
  virtual void after(const Module& module, const Tensor& output) = 0;

  inline static thread_local constinit CallObserver* current = nullptr;

 private:
  CallObserver* outer_;
};

}  // namespace detail

/// Names without a partner, from a load with strict = false.
struct LoadReport {
  std::vector<std::string> missing;     ///< names of the module that were not given
  std::vector<std::string> unexpected;  ///< names given that the module does not have
};

/// The base of all layers and models: members with names. Derive from Layer<Self>, not from this.
class Module {
 public:
  Module() = default;  ///< In training, without hooks.
  Module(const Module& other) = default;
  Module(Module&& other) noexcept;  ///< Takes the hooks along.
  Module& operator=(const Module& other) = default;
  virtual ~Module() = default;

  /// Names every parameter, buffer and child once: v("weight", weight). Nothing else is to be registered.
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
  int64_t parameter_count() const;  ///< The numbers in all parameters, each once.

  /// All parameters and persistent buffers under all their names. They share the values: clone what is to
  /// stay.
  StateDict state_dict() const;
  /// Writes the values into the parameters and buffers of the same names, converting float32 and float64.
  /// If any name is missing, unexpected or has another shape, throws one table of them and changes nothing;
  /// with strict = false missing and unexpected names are returned instead. Of tied names one suffices.
  LoadReport load_state_dict(const StateDict& state, bool strict = true,
                             SourceLocation line = SourceLocation::current());
  /// The same in two steps, strict: what may throw is done now, and what is returned writes. So several parts
  /// are loaded all or none.
  std::function<void()> prepare_load(const StateDict& state);

  /// Training is the state at the start. It changes what layers such as Dropout do, and nothing about
  /// gradients; NoGrad stops those.
  void train(bool training = true);
  void eval() { train(false); }  ///< Training ends.
  /// Whether it is in training.
  bool training() const { return training_ && !detail::CallObserver::current; }

  /// All floating parameters and buffers, in place.
  void to(DType dtype);
  /// Whether the parameters learn.
  void requires_grad_(bool requires_grad = true);
  /// Drops all gradients.
  void zero_grad();
  /// Calls f for every module inside, children before parents, and for this one last.
  void apply(const std::function<void(Module&)>& f);

  /// hook(module, inputs) before forward; the inputs are the tensors among the arguments.
  HookHandle register_forward_pre_hook(ForwardPreHook hook);
  /// hook(module, inputs, output) after forward, for each tensor that it returned; may replace it.
  HookHandle register_forward_hook(ForwardHook hook);
  /// hook(module, gradient) in backward when the gradient of a tensor that forward returned is complete and
  /// before it goes into the module; may replace it.
  HookHandle register_backward_hook(BackwardHook hook);

  /// The name of the class: "Linear".
  std::string type_name() const;

 private:
  friend class detail::ModuleCall;
  std::vector<NamedTensor> named(bool learned) const;
  std::function<void()> prepare_load(const StateDict& state, bool strict, LoadReport& report);
  detail::ModuleHooks& hooks();

  bool training_ = true;
  mutable detail::Own own_;
};

/// The tree of modules, each with its type and the shapes of its own members:
///
///   Sequential(
///     (0): Linear(weight [128, 784], bias [128])
///     (1): ReLU()
///   )
std::string to_string(const Module& module);

namespace detail {

/// A tensor given to a layer, and where: made by implicit conversion, as an Operand is.
struct LayerInput {
  template <class T>
    requires std::is_convertible_v<const T&, const Tensor&>
  LayerInput(const T& x, SourceLocation line = SourceLocation::current()) : tensor(x), line(line) {}
  const Tensor& tensor;
  SourceLocation line;
};

inline std::vector<Tensor> tensors_among(const auto&... args) {
  std::vector<Tensor> found;
  [[maybe_unused]] const auto take = [&found](const auto& arg) {
    if constexpr (std::is_convertible_v<decltype(arg), const Tensor&>) found.push_back(arg);
  };
  (take(args), ...);
  return found;
}

template <class Self, class... Args>
concept Forwards = requires(Self& self, Args&&... args) { self.forward(std::forward<Args>(args)...); };

template <class... Args>
inline constexpr bool kTensorFirst =
    std::is_convertible_v<std::tuple_element_t<0, std::tuple<Args..., void>>, const Tensor&>;

// The tensors of a result: one, or those of a pair, tuple or vector, or those that tensors() points to.
template <class Result, class F>
void each_tensor(Result& result, F&& f) {
  if constexpr (std::is_base_of_v<Tensor, Result>) {
    f(static_cast<Tensor&>(result));
  } else if constexpr (requires { result.tensors(); }) {
    for (Tensor* part : result.tensors()) f(*part);
  } else if constexpr (requires { std::tuple_size<Result>::value; }) {
    std::apply([&](auto&... part) { (each_tensor(part, f), ...); }, result);
  } else if constexpr (requires { result.begin(), result.end(), result.size(); }) {
    for (auto& part : result) each_tensor(part, f);
  }
}

/// The number of those in this thread that read module_path without recording, see AttentionScope.
inline thread_local constinit int paths_wanted = 0;

/// The running call of a module: a link of the chain of calls in this thread.
///
/// Note [Module paths]: nodes and errors name the module that made them by its path from the outermost module
/// that is being called. Modules do not know their parents, so that they copy and move like any value;
/// instead the first call inside another module walks `visit` of the outermost one and leaves the path with
/// every module on the way. Later calls only compare a number.
class ModuleCall {
 public:
  ModuleCall(const Module& module, SourceLocation line)
      : module_(module), line_(line), outer_(innermost), path_before_(module_path) {
    if (outer_ && (heed::grad_enabled() || paths_wanted > 0))
      module_path = path();  // may throw, as visit may
    innermost = this;
  }
  ~ModuleCall() {
    innermost = outer_;
    module_path = path_before_;
  }
  ModuleCall(const ModuleCall&) = delete;

  /// Whether any call runs in this thread.
  static bool any() { return innermost != nullptr; }
  bool hooked() const { return module_.own_.hooks || CallObserver::current; }
  void before(const std::vector<Tensor>& inputs) const;
  Tensor after(const std::vector<Tensor>& inputs, const Tensor& output) const;
  /// Inside a catch block: goes on throwing, an Error with the path of the module where it arose and the
  /// innermost line on the way there that is not heed's own.
  [[noreturn]] void rethrow() const;

 private:
  const char* path() const {
    const ModuleCall* root = this;
    while (root->outer_) root = root->outer_;
    const uint64_t id = root->module_.own_.id.load(std::memory_order_relaxed);
    if (module_.own_.root.load(std::memory_order_acquire) == id) [[likely]]
      return module_.own_.path.load(std::memory_order_relaxed);
    return find_path(root->module_);
  }
  const char* find_path(const Module& root) const;

  inline static thread_local constinit const ModuleCall* innermost = nullptr;
  const Module& module_;
  SourceLocation line_;  // of the caller, where it is known
  const ModuleCall* outer_;
  const char* path_before_;
};

}  // namespace detail

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
/// The call runs the hooks and knows the module's path and the caller's line for messages (the line where the
/// first argument is a tensor); then it is forward(arguments...). A call cannot guess the type of braces, so
/// they need one: m(q, AttendOptions{.need_weights = true}).
template <class Self>
class Layer : public Module {
 public:
  /// layer(x, ...) is forward(x, ...).
  template <class... Args>
  auto operator()(detail::LayerInput x, Args&&... args) const
    requires(detail::Forwards<const Self, const Tensor&, Args...>)
  {
    return call(static_cast<const Self&>(*this), x.line, x.tensor, std::forward<Args>(args)...);
  }
  /// The same of a layer whose forward changes it.
  template <class... Args>
  auto operator()(detail::LayerInput x, Args&&... args)
    requires(detail::Forwards<Self, const Tensor&, Args...>)
  {
    return call(static_cast<Self&>(*this), x.line, x.tensor, std::forward<Args>(args)...);
  }
  /// layer(...) where the first argument is no tensor.
  template <class... Args>
  auto operator()(Args&&... args) const
    requires(!detail::kTensorFirst<Args...> && detail::Forwards<const Self, Args...>)
  {
    return call(static_cast<const Self&>(*this), {}, std::forward<Args>(args)...);
  }
  /// The same of a layer whose forward changes it.
  template <class... Args>
  auto operator()(Args&&... args)
    requires(!detail::kTensorFirst<Args...> && detail::Forwards<Self, Args...>)
  {
    return call(static_cast<Self&>(*this), {}, std::forward<Args>(args)...);
  }

 private:
  template <class Me, class... Args>
  static auto call(Me& self, SourceLocation line, Args&&... args) {
    const detail::ModuleCall call(self, line);
    try {
      if (!call.hooked()) [[likely]]
        return self.forward(std::forward<Args>(args)...);
      const std::vector<Tensor> inputs = detail::tensors_among(args...);
      call.before(inputs);
      if constexpr (std::is_void_v<decltype(self.forward(std::forward<Args>(args)...))>) {
        return self.forward(std::forward<Args>(args)...);
      } else {
        auto result = self.forward(std::forward<Args>(args)...);
        detail::each_tensor(result, [&](Tensor& output) { output = call.after(inputs, output); });
        return result;
      }
    } catch (...) {
      call.rethrow();
    }
  }
};

}  // namespace heed
