#pragma once

#include <functional>

#include "nn/debug/check_module.h"

/// What is odd about a training that no exception shows.
namespace heed {

namespace detail {
ModuleReport diagnose(const Module& model, Optimizer& optimizer, const std::function<Tensor()>& step,
                      SourceLocation line);
}

/// Watches two steps of a training and says what is odd about them: mistakes after which everything runs, and
/// nothing, or the wrong thing, is learned.
///
///   training mode     the model is in eval() while it learns: no dropout
///   evaluation        it is in train() while it is evaluated under NoGrad: dropout draws
///   inputs            of products are not hundreds of times what weights are made for
///   softmax           of what is a softmax already, or its like for sigmoid; nll_loss of probabilities
///   activations       relu that gives 0 everywhere; tanh and sigmoid at their ends
///   finite            loss and gradients are numbers
///   gradients reach   every parameter of the model, and no leaf that it does not name; backward() runs at
///   all gradients flow    none is 0 everywhere, vanishes or explodes beside the others zero_grad none is
///   left from the step before optimizer         holds the parameters of this model step              the
///   parameters move learning rate     the loss does not rise by it symmetry          the rows of a weight
///   differ, so that its units may learn different things
///
/// `step` is what the program does with one batch, zero_grad() to step(), twice; these steps count. If it
/// returns a loss and runs no backward(), the rest is done here.
///
///   const ModuleReport report = diagnose(model, adam, [&] { return F::cross_entropy(model(x), labels); });
///   std::cout << to_string(report) << "\n";
///
/// The thresholds are those of a training at its beginning. Errors: those of step.
template <class Step>
  requires std::invocable<Step&>
ModuleReport diagnose(const Module& model, Optimizer& optimizer, Step&& step,
                      SourceLocation line = SourceLocation::current()) {
  return detail::diagnose(
      model, optimizer,
      [&]() -> Tensor {
        if constexpr (std::is_base_of_v<Tensor, std::invoke_result_t<Step&>>)
          return step();
        else
          return static_cast<void>(step()), Tensor();
      },
      line);
}

}  // namespace heed
