#pragma once

#include <tuple>

#include "autograd/node.h"

/// What happens around the forward of a module: the stack of running calls, module paths, hooks, and the path
/// and line in an Error.
namespace heed {

class Module;

/// A function that returns nothing, or a tensor that replaces its last argument.
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

struct ModuleHooks;  // of one module

/// The hooks and the cached path of one module. A copy starts without both. An assigned module keeps its
/// hooks and drops its path, since its members may have moved.
struct CallState {
  CallState() = default;
  CallState(const CallState&) noexcept {}
  CallState& operator=(const CallState& other) noexcept {
    if (this == &other) return *this;
    root = 0;
    id = ++ids;
    return *this;
  }
  std::shared_ptr<ModuleHooks> hooks;  // null if there are none
  std::atomic<uint64_t> id = ++ids;
  std::atomic<uint64_t> root = 0;      // id of the outermost module that `path` starts from; 0: no path yet
  std::atomic<const char*> path = "";  // never freed, see Note [Module paths]
  inline static std::atomic<uint64_t> ids = 0;
};

/// During its lifetime all modules of this thread behave as in eval(), without a change to them.
struct EvaluationScope {
  ~EvaluationScope() { active = outer; }
  inline static thread_local constinit bool active = false;
  const bool outer = std::exchange(active, true);
};

/// The running call of a module, a link in this thread's stack of calls.
///
/// Note [Module paths]: nodes and errors name the module that made them by its path from the outermost module
/// that is being called. Modules do not know their parents, so that they can be copied and moved like any
/// value. Instead, the first call inside another module walks `visit` of the outermost one and stores the
/// path in every module that it finds. Later calls only compare a number.
class ModuleCall {
 public:
  ModuleCall(const auto& module, SourceLocation line) : module_(module), state_(module.call_state_) {
    if (outer_ && (heed::grad_enabled() || Observer::any())) module_path = path();
    if (is_user_code(line)) module_line = line;
    innermost = this;
  }
  ~ModuleCall() {
    innermost = outer_;
    module_path = path_before_;
    module_line = line_before_;
  }
  ModuleCall(const ModuleCall&) = delete;

  /// Whether any call runs in this thread.
  static bool any() { return innermost != nullptr; }
  bool hooked() const { return state_.hooks || Observer::any(); }
  void before(const std::vector<Tensor>& inputs) const;
  Tensor after(const std::vector<Tensor>& inputs, const Tensor& output) const;
  /// In a catch block: rethrows. Adds to an Error the path of the module where it arose and the line of the
  /// innermost call in the user's code.
  [[noreturn]] void rethrow() const;

 private:
  const char* path() const;

  inline static thread_local constinit const ModuleCall* innermost = nullptr;
  const Module& module_;
  const CallState& state_;
  const ModuleCall* const outer_ = innermost;
  const ModuleCall& outermost_ = outer_ ? outer_->outermost_ : *this;
  const char* const path_before_ = module_path;
  const SourceLocation line_before_ = module_line;
};

/// A tensor given to a layer, and the line of the caller. Made by implicit conversion, like an Operand.
struct LayerInput {
  template <class T>
    requires std::is_convertible_v<const T&, const Tensor&>
  LayerInput(const T& x, SourceLocation where = SourceLocation::current()) : tensor(x), line(where) {}
  const Tensor& tensor;
  SourceLocation line;
};

template <class Self, class... Args>
concept Forwards = requires(Self& self, Args&&... args) { self.forward(std::forward<Args>(args)...); };

template <class... Args>
inline constexpr bool kTensorFirst =
    std::is_convertible_v<std::tuple_element_t<0, std::tuple<Args..., void>>, const Tensor&>;

/// The tensors among the arguments of a call.
inline std::vector<Tensor> tensors_among(const auto&... args) {
  std::vector<Tensor> found;
  [[maybe_unused]] const auto take = [&found](const auto& arg) {
    if constexpr (std::is_convertible_v<decltype(arg), const Tensor&>) found.push_back(arg);
  };
  (take(args), ...);
  return found;
}

/// Calls f for the tensors of a result: a tensor, those of a pair, tuple or vector, or those that tensors()
/// points to.
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

/// self.forward(args...) as a call of the module `self`, written at this line.
template <class Self, class... Args>
auto call_forward(Self& self, SourceLocation line, Args&&... args) {
  const ModuleCall call(self, line);
  try {
    const bool hooked = call.hooked();
    const std::vector<Tensor> inputs = hooked ? tensors_among(args...) : std::vector<Tensor>();
    if (hooked) call.before(inputs);
    if constexpr (std::is_void_v<decltype(self.forward(std::forward<Args>(args)...))>) {
      self.forward(std::forward<Args>(args)...);
    } else {
      auto result = self.forward(std::forward<Args>(args)...);
      if (hooked) [[unlikely]]
        each_tensor(result, [&](Tensor& output) { output = call.after(inputs, output); });
      return result;
    }
  } catch (...) {
    call.rethrow();
  }
}

/// The call operator of a layer: layer(arguments...) is call_forward with these arguments. There are four,
/// for const and other layers, with and without a tensor as the first argument, which brings the line.
template <class Self>
struct CallOperator {
  template <class... Args>
    requires(Forwards<const Self, const Tensor&, Args...>)
  auto operator()(LayerInput x, Args&&... args) const {
    return call_forward(static_cast<const Self&>(*this), x.line, x.tensor, std::forward<Args>(args)...);
  }
  template <class... Args>
    requires(Forwards<Self, const Tensor&, Args...>)
  auto operator()(LayerInput x, Args&&... args) {
    return call_forward(static_cast<Self&>(*this), x.line, x.tensor, std::forward<Args>(args)...);
  }
  template <class... Args>
    requires(!kTensorFirst<Args...> && Forwards<const Self, Args...>)
  auto operator()(Args&&... args) const {
    return call_forward(static_cast<const Self&>(*this), {}, std::forward<Args>(args)...);
  }
  template <class... Args>
    requires(!kTensorFirst<Args...> && Forwards<Self, Args...>)
  auto operator()(Args&&... args) {
    return call_forward(static_cast<Self&>(*this), {}, std::forward<Args>(args)...);
  }
};

}  // namespace detail
}  // namespace heed
