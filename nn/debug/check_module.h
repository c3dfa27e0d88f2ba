#pragma once

#include <memory>

#include "nn/module.h"

/// Whether a layer is what it looks like.
namespace heed {

class Optimizer;

/// One of the things that check_module looks at.
struct ModuleCheck {
  /// How it went; skipped where it has no meaning for this module.
  enum class Verdict { passed, failed, skipped };
  std::string name;                   ///< "first derivative"
  Verdict verdict = Verdict::passed;  ///< how it went
  std::string found = {};             ///< the numbers, or what the module said; why it was skipped
  std::string cause = {};             ///< what it is likely to come from
};

/// What check_module found.
struct ModuleReport {
  std::string module;                              ///< the name of the class
  std::vector<ModuleCheck> checks;                 ///< in the order in which they were made
  bool ok() const;                                 ///< whether none failed
  explicit operator bool() const { return ok(); }  ///< ok()
  /// The check of this name. Errors: there is none.
  const ModuleCheck& operator[](std::string_view name) const&;
};

/// The report as a card: a line for each check, and below those that failed what was found and the likely
/// cause.
std::string to_string(const ModuleReport& report);

/// Choices of check_module.
struct CheckModuleOptions {
  int64_t batch_dim = 0;  ///< of the inputs, whose rows are independent; -1: there are no such rows
  std::vector<std::string> skip = {};  ///< names of checks that do not hold for this module
  double tolerance = 1e-5;  ///< of derivatives, in float64, relative to the larger of 1 and the value
  uint64_t seed = 0;        ///< of dropout, and of the gradients that come in
};

namespace detail {

/// A copy of the module under the check, and how it is called.
class CheckedModule {
 public:
  virtual ~CheckedModule() = default;
  virtual Module& module() = 0;
  /// The tensors that it returns.
  virtual std::vector<Tensor> call(const std::vector<Tensor>& inputs) = 0;
  virtual std::unique_ptr<CheckedModule> copy() const = 0;
  virtual void assign(const CheckedModule& other) = 0;
};

template <class M, class Call>
class CheckedModuleOf final : public CheckedModule {
 public:
  CheckedModuleOf(const M& module, const Call& call) : module_(module), call_(call) {}
  Module& module() override { return module_; }
  std::vector<Tensor> call(const std::vector<Tensor>& inputs) override {
    std::vector<Tensor> found;
    auto result = call_(module_, inputs);
    each_tensor(result, [&](const Tensor& x) {
      if (x.defined()) found.push_back(x);
    });
    return found;
  }
  std::unique_ptr<CheckedModule> copy() const override {
    return std::make_unique<CheckedModuleOf>(module_, call_);
  }
  void assign(const CheckedModule& other) override {
    if constexpr (std::is_copy_assignable_v<M>) module_ = static_cast<const CheckedModuleOf&>(other).module_;
  }

 private:
  M module_;
  Call call_;
};

ModuleReport check_module(std::unique_ptr<CheckedModule> subject, const std::vector<Tensor>& inputs,
                          const CheckModuleOptions& options);
[[noreturn]] void not_callable(const Module& module, size_t inputs);

/// What of a model an optimiser does not hold, and what it holds besides: a line each; "" if it holds the
/// model.
std::string optimizer_mismatch(const Module& model, const Optimizer& optimizer);

/// The leaves that gradients of `output` reach and that are neither parameters of the module nor inputs:
/// their shapes, "" if there are none.
std::string unregistered_leaves(const Tensor& output, const Module& module,
                                const std::vector<Tensor>& inputs = {});

/// Calls a module with as many tensors as there are inputs.
template <class M, size_t... I>
auto call_with(M& module, const std::vector<Tensor>& in, std::index_sequence<I...>) {
  return module(in[I]...);
}
template <size_t count, class M>
inline constexpr bool kCallable = [] {
  return []<size_t... I>(std::index_sequence<I...>) {
    return requires(M& module, const Tensor& x) { module((static_cast<void>(I), x)...); };
  }(std::make_index_sequence<count>());
}();

}  // namespace detail

/// Puts a layer through what every layer must stand, on copies of it; the layer stays as it is.
///
///   first derivative, second derivative   against central differences, in float64, by inputs and parameters
///   strided input                         the order of the input's memory does not matter
///   empty batch                           no rows in, none out, and gradients of 0
///   batch independence                    a batch of n is n batches of one
///   evaluation                            in eval() the same every time, also after other inputs; inputs and
///   members
///                                         stay as they are
///   training                              in train() the same for the same seed, call after call; inputs
///   stay names                                 visit names every member once, and the same ones each time
///   copies                                a copy computes the same, and neither changes the other;
///   assignment, too saved and loaded                      a file holds all that the result depends on dtypes
///   float32 and float64 give the same but for rounding, each its own dtype threads the same bits on any
///   number of threads gradients reach                       every parameter, and no leaf that visit does not
///   name leaks                                 memory is what it was, call after call
///
/// Inputs that are not floating are handed over as they are. Choose small sizes, for derivatives are taken by
/// every element, and inputs away from kinks. `call(module, inputs)` says how to call it where
/// module(inputs...) is not it.
///
///   const ModuleReport report = check_module(layer, {randn({4, 3})});
///   std::cout << to_string(report) << "\n";
template <class M, class Call>
ModuleReport check_module(const M& module, const std::vector<Tensor>& inputs, const Call& call,
                          const CheckModuleOptions& options = {}) {
  return detail::check_module(std::make_unique<detail::CheckedModuleOf<M, Call>>(module, call), inputs,
                              options);
}
/// The same for a module that is called with the inputs, of which there are one to four.
template <class M>
ModuleReport check_module(const M& module, const std::vector<Tensor>& inputs,
                          const CheckModuleOptions& options = {}) {
  const auto with = [&]<size_t count>() {
    if constexpr (detail::kCallable<count, M>)
      return check_module(
          module, inputs,
          [](M& one, const std::vector<Tensor>& in) {
            return detail::call_with(one, in, std::make_index_sequence<count>());
          },
          options);
    else
      return detail::not_callable(module, inputs.size()), ModuleReport();
  };
  switch (inputs.size()) {
    case 1:
      return with.template operator()<1>();
    case 2:
      return with.template operator()<2>();
    case 3:
      return with.template operator()<3>();
    case 4:
      return with.template operator()<4>();
    default:
      fail("check_module: ", inputs.size(), " inputs; give one to four, or a call");
  }
}

/// What a training holds together after its first backward(): a line for each parameter of the model that has
/// no gradient, each leaf that the graph of the loss reaches and the model does not name, each parameter that
/// the optimiser does not hold, and each that it holds of another model; "" where all is well.
std::string check_training(const Module& model, const Optimizer& optimizer, const Tensor& loss);

}  // namespace heed
