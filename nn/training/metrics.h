#pragma once

#include "autograd/operand.h"

/// How often a classifier is right. Predictions are scores [..., C], whose largest is the class, or int64
/// classes [...]; targets are int64 [...], and those equal to ignore_index do not count.
namespace heed {

/// The fraction of right predictions; 0 if no target counts.
double accuracy(Operand prediction, Operand target, int64_t ignore_index = -100);
/// How many targets of class i were predicted as class j: int64 [C, C]. The diagonal has the right ones. C =
/// num_classes, or for -1 the number of scores, or the largest class + 1. Throws for a class outside of it.
Tensor confusion_matrix(Operand prediction, Operand target, int64_t num_classes = -1,
                        int64_t ignore_index = -100);

}  // namespace heed
