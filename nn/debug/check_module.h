#pragma once

#include "nn/module.h"

/// Checks that a layer obeys the module contract, and that model, optimizer and loss belong together.
namespace heed {

class Optimizer;

/// The result of one check.
struct ModuleCheck {
  enum class Verdict { passed, failed, skipped };
  std::string name;  ///< "first derivative"
  Verdict verdict = Verdict::passed;
  std::string found = {};  ///< Numbers or the module's error; the reason of a skipped check.
  std::string cause = {};  ///< Likely cause of a failure.
};

/// The result of check_module or diagnose.
struct ModuleReport {
  std::string module;  ///< Name of the class.
  std::vector<ModuleCheck> checks;
  bool ok() const;  ///< Whether no check failed.
  explicit operator bool() const { return ok(); }
  /// The check of this name. Throws if there is none.
  const ModuleCheck& operator[](std::string_view name) const&;
};

/// The report as text: one line for each check, with the finding and likely cause below a failed one.
std::string to_string(const ModuleReport& report);

/// Options of check_module.
struct CheckModuleOptions {
  int64_t batch_dim = 0;  ///< Dimension of the inputs that holds independent examples; -1 if there is none.
  std::vector<std::string> skip = {};  ///< Names of checks that do not apply.
  double tolerance = 1e-5;             ///< Of derivatives in float64, relative to max(1, |value|).
  uint64_t seed = 0;                   ///< Of dropout and of the incoming gradients.
};

namespace detail {

/// A module under test without its type.
struct CheckedModule {
  std::shared_ptr<Module> module;
  std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)> call;
  std::function<CheckedModule()> copy;
  std::function<void(const CheckedModule& other)> assign;
};

/// The defined tensors of a result.
std::vector<Tensor> tensors_of(auto result) {
  std::vector<Tensor> found;
  each_tensor(result, [&](const Tensor& x) {
    if (x.defined()) found.push_back(x);
  });
  return found;
}

template <class M, class Call>
CheckedModule checked(const M& module, const Call& call) {
  const auto own = std::make_shared<M>(module);
  return {own, [own, call](const std::vector<Tensor>& inputs) { return tensors_of(call(*own, inputs)); },
          [own, call] { return checked(*own, call); },
          [own](const CheckedModule& other) {
            if constexpr (std::is_copy_assignable_v<M>) *own = static_cast<const M&>(*other.module);
          }};
}

/// An error of check_module's caller and not of the module.
struct NotCallable : Error {
  NotCallable(const Module& module, size_t inputs);
};

/// Calls module(inputs[0], ...) with up to four inputs.
std::vector<Tensor> call_with(auto& module, const std::vector<Tensor>& inputs, const auto&... args) {
  constexpr size_t count = sizeof...(args);
  if constexpr (count > 0 && requires { module(args...); })
    if (inputs.size() == count) return tensors_of(module(args...));
  if constexpr (count < 4)
    if (inputs.size() > count) return call_with(module, inputs, args..., inputs[count]);
  throw NotCallable(module, inputs.size());
}

/// `make` constructs another module; null if it is not known how.
ModuleReport check_module(const CheckedModule& subject, const std::vector<Tensor>& inputs,
                          const CheckModuleOptions& options,
                          const std::function<CheckedModule()>& make = nullptr);

/// Whether one of `all` is the tensor x itself.
bool is_among(const std::vector<Tensor>& all, const Tensor& x);

/// One line for each parameter of the model that the optimizer does not hold, and for each that it holds and
/// the model does not have; "" if they match.
std::string optimizer_mismatch(const Module& model, const Optimizer& optimizer);

/// The shapes of the leaves of output's graph that are neither parameters of the module nor inputs; "" if
/// there are none.
std::string unregistered_leaves(const Tensor& output, const Module& module,
                                const std::vector<Tensor>& inputs = {});

}  // namespace detail

/// Checks a layer against the contract that every layer obeys. It works on copies and does not change the
/// layer.
///
///   names                 visit names every member once, in every walk the same
///   evaluation            in eval() equal results, also after a call with other inputs; nothing is written
///   training              in train() equal results for equal seeds, also from call to call
///   gradients reach       every parameter, and no leaf that visit does not name
///   copies                a copy or an assigned module gives equal results and shares no memory
///   strided input         equal results for every memory layout of the inputs
///   batch independence    n examples at once give the results of n batches of one
///   empty batch           no examples give empty results, zero gradients and finite buffers
///   single example        training on one example gives finite results, gradients and buffers, or an Error
///   dtypes                float32 and float64 agree up to rounding, and results have the dtype of the inputs
///   threads               equal bits for any number of threads
///   first derivative, second derivative   agree with central differences in float64
///   saved and loaded      a state dict holds everything that the results depend on
///   leaks                 memory use does not grow from call to call
///
/// Inputs that are not floating are passed unchanged. Choose small shapes, because derivatives are computed
/// element by element, and inputs away from kinks.
///
///   const ModuleReport report = check_module(layer, {randn({4, 3})});
///   std::cout << to_string(report) << "\n";
///
/// Pass a function that constructs the layer where the layer has no default constructor: "saved and loaded"
/// then constructs two layers and finds random state that is not in the state dict.
///
///   check_module([] { return Affine(3); }, {randn({4, 3})});
///
/// `call(module, inputs)` calls the layer where module(inputs...) does not. Throws if a layer without it
/// cannot be called with the inputs, or if there are not one to four.
template <class Source, class Call>
  requires(!std::convertible_to<const Call&, CheckModuleOptions>)
ModuleReport check_module(const Source& source, const std::vector<Tensor>& inputs, const Call& call,
                          const CheckModuleOptions& options = {}) {
  const auto checked = [&](const auto& module) { return detail::checked(module, call); };
  if constexpr (!std::derived_from<Source, Module>)
    return detail::check_module(checked(source()), inputs, options, [&] { return checked(source()); });
  else if constexpr (std::is_default_constructible_v<Source>)
    return detail::check_module(checked(source), inputs, options, [&] { return checked(Source()); });
  else
    return detail::check_module(checked(source), inputs, options);
}
/// The same for a layer that is called as module(inputs...).
ModuleReport check_module(const auto& source, const std::vector<Tensor>& inputs,
                          const CheckModuleOptions& options = {}) {
  const auto call = [](auto& module, const std::vector<Tensor>& in) { return detail::call_with(module, in); };
  return check_module(source, inputs, call, options);
}

/// Checks after the first backward() of a training that model, optimizer and loss belong together. Returns
/// one line for each parameter without gradient, each leaf of the loss that the model does not name, each
/// parameter that the optimizer does not hold, and each parameter of another model that it holds; "" if there
/// are none.
std::string check_training(const Module& model, const Optimizer& optimizer, const Tensor& loss);

}  // namespace heed
