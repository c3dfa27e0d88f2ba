#pragma once

#include "nn/module_call.h"

/// Using a model without training it.
namespace heed {

/// During its lifetime all modules of this thread behave as in eval(), and nothing is recorded:
///
///   {
///     const Evaluation evaluation;
///     accuracy = share_of_right_answers(model(x), y);
///   }
///
/// The modules themselves do not change. Afterwards each is in the mode it was in before.
class Evaluation {
  detail::EvaluationScope scope_;
  NoGrad guard_;
};

}  // namespace heed
