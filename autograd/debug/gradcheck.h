#pragma once

#include <concepts>

#include "tensor/tensor.h"

/// Gradients held against differences of the function.
namespace heed {

/// Choices of gradcheck and gradgradcheck.
struct GradcheckOptions {
  double step = 1e-6;       ///< of the central difference
  double tolerance = 1e-6;  ///< of |numeric - analytic| / max(1, |numeric|)
  uint64_t seed = 0;        ///< of the incoming gradients
};

/// The result of a gradient check. `message` says where numeric and analytic gradient are farthest apart.
struct GradcheckReport {
  bool ok = true;                                ///< whether the error is within the tolerance
  double error = 0;                              ///< the largest of |numeric - analytic| / max(1, |numeric|)
  std::string where;                             ///< the input and element of that error
  std::string message;                           ///< the two numbers there
  explicit operator bool() const { return ok; }  ///< ok
};

/// The function to check: (const std::vector<Tensor>&) -> Tensor, or -> std::vector<Tensor>. Refers to it,
/// and lives no longer than the call.
class CheckedFunction {
 public:
  /// Any such function.
  template <class F>
  CheckedFunction(const F& f)
      : call_([&f](const std::vector<Tensor>& inputs) -> std::vector<Tensor> {
          return {f(inputs)};  // a list stays one, a tensor becomes one
        }) {}
  /// Calls it; one tensor becomes a list of one.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const { return call_(inputs); }

 private:
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> call_;
};

/// Holds the gradient of f against central differences: with random c_k, for every element of every input
/// that requires a gradient,
///
///   d/dx sum_k <c_k, f(x)_k>  =  sum_k <c_k, f(x + h)_k - f(x - h)_k> / 2h
///
///   f       outputs that are not floating are left out
///   inputs  those that require a gradient are float64 and are moved by h in place, so f may also read them
///           from elsewhere, as a module reads its parameters:
///           gradcheck([&](auto&) { return layer(x); }, layer.parameters())
///
/// Errors: no input requires a gradient; one is not float64, or has several elements in one place.
GradcheckReport gradcheck(const CheckedFunction& f, const std::vector<Tensor>& inputs,
                          GradcheckOptions options = {});

/// The same for the gradient: the map from inputs and incoming gradients to the gradients of the inputs is
/// itself put through gradcheck. Its analytic side differentiates the rules in public operations, its numeric
/// side reads their one-pass forms, so the two are held against each other as well.
GradcheckReport gradgradcheck(const CheckedFunction& f, const std::vector<Tensor>& inputs,
                              GradcheckOptions options = {});

}  // namespace heed
