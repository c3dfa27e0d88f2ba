#pragma once

#include "tensor/tensor.h"

/// Comparison of gradients with finite differences.
namespace heed {

/// Options of gradcheck and gradgradcheck.
struct GradcheckOptions {
  double step = 1e-6;       ///< h of the central difference
  double tolerance = 1e-6;  ///< bound of |numeric - analytic| / max(1, |numeric|)
  uint64_t seed = 0;        ///< of the random incoming gradients
};

/// The result of a gradient check, with the place of the largest error.
struct GradcheckReport {
  bool ok = true;       ///< whether the error is within the tolerance
  double error = 0;     ///< largest |numeric - analytic| / max(1, |numeric|)
  std::string where;    ///< input and element of that error
  std::string message;  ///< the numeric and the analytic value there
  explicit operator bool() const { return ok; }
};

/// The function to check: (const std::vector<Tensor>&) -> Tensor or std::vector<Tensor>. Holds a reference to
/// the callable, so it must not outlive it.
struct CheckedFunction : std::function<std::vector<Tensor>(const std::vector<Tensor>&)> {
  /// Takes a callable of either form.
  CheckedFunction(const auto& f)
      : function([&f](const std::vector<Tensor>& inputs) -> std::vector<Tensor> {
          return {f(inputs)};  // wraps one tensor, copies a vector
        }) {}
};

/// Compares the gradient of f with central differences. With random c_k, for every element of every input
/// that requires a gradient:
///
///   d/dx sum_k <c_k, f(x)_k>  =  sum_k <c_k, f(x + h)_k - f(x - h)_k> / 2h
///
///   f       outputs that are not floating are ignored
///   inputs  inputs that require a gradient must be float64. They are perturbed in place, so f may also read
///           them from elsewhere, as a module reads its parameters:
///           gradcheck([&](auto&) { return layer(x); }, layer.parameters())
///
/// Throws if no input requires a gradient, or if one that does is not float64 or has overlapping elements.
GradcheckReport gradcheck(const CheckedFunction& f, const std::vector<Tensor>& inputs,
                          GradcheckOptions options = {});

/// Applies gradcheck to the gradient: the map from inputs and incoming gradients to the gradients of the
/// inputs. The analytic side differentiates the rules written in public operations, the numeric side
/// evaluates their fused forms, so the two forms are compared as well.
GradcheckReport gradgradcheck(const CheckedFunction& f, const std::vector<Tensor>& inputs,
                              GradcheckOptions options = {});

}  // namespace heed
