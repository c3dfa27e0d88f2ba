#pragma once

#include "nn/debug/check_module.h"

/// Finds mistakes in a training that raise no error.
namespace heed {

namespace detail {
ModuleReport diagnose(const Module& model, Optimizer& optimizer, const std::function<Tensor()>& step,
                      SourceLocation line);
}

/// Watches two steps of a training and reports mistakes that raise no error but prevent learning or lead to a
/// wrong result.
///
///   training mode     the model is in train() when backward() runs
///   evaluation        nothing draws random numbers in a module under NoGrad
///   inputs            the inputs of products have a moderate size
///   shapes            no prediction is broadcast against its target before the loss is averaged
///   softmax           no softmax or sigmoid twice, none along the batch, and nll_loss gets log-probabilities
///   activations       no relu gives only 0, no tanh or sigmoid only its limits
///   finite            loss and gradients are finite
///   gradients reach   every parameter of the model, and no leaf that it does not name
///   gradients flow    no gradient is 0 everywhere; none is a million times as large as another
///   zero_grad         no gradient is left over from the previous step
///   loss              the steps decrease errors and increase log-likelihoods: the sign of the loss is right
///   optimizer         it holds exactly the parameters of the model
///   step              the parameters move
///   learning rate     the loss does not jump
///   symmetry          the rows of a weight differ
///
/// `step` is what the program does with one batch, from zero_grad() to step(). It runs twice and trains the
/// model. If it returns a loss and runs no backward(), diagnose does the rest.
///
///   const ModuleReport report = diagnose(model, adam, [&] { return F::cross_entropy(model(x), labels); });
///   std::cout << to_string(report) << "\n";
///
/// The thresholds suit the beginning of a training. Throws what step throws.
template <class Step>
  requires std::invocable<Step&>
ModuleReport diagnose(const Module& model, Optimizer& optimizer, Step&& step,
                      SourceLocation line = SourceLocation::current()) {
  if constexpr (std::is_base_of_v<Tensor, std::invoke_result_t<Step&>>)
    return detail::diagnose(model, optimizer, std::ref(step), line);
  else
    return detail::diagnose(
        model, optimizer, [&] { return static_cast<void>(step()), Tensor(); }, line);
}

}  // namespace heed
