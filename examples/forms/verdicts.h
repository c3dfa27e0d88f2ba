#pragma once

#include <string>
#include <vector>

#include "examples/forms/sequence_model.h"

/// What the literature says about forms of attention, compared with the numbers of a run.
namespace program {

/// One statement and whether the numbers of the run agree.
struct Verdict {
  std::string name;       ///< for results
  std::string statement;  ///< with its source
  std::string condition;  ///< when it holds
  std::string numbers;    ///< that were measured
  bool holds = false;
};

/// The verdicts of which all forms and tasks were trained:
///
///   linear_fails     at recall, the accuracy of linear is below that of softmax by at least 0.2
///   delta_repairs    delta makes up for at least half of that difference
///   alibi_extrapolates, window_extrapolates
///                    the loss of text beyond the trained length is above the loss within it by at most 0.2
///   learned_does_not with learned positions, it is above by more than 0.5
///   hard_baseline    at copying, hard attention with a baseline halves its loss in at most two thirds of the
///                    steps that it takes without
std::vector<Verdict> judge(const std::vector<Trained>& trained);

}  // namespace program
