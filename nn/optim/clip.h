#pragma once

#include "tensor/tensor.h"

/// Limits for gradients.
namespace heed {

/// Scales all gradients together so that their norm, taken as of one long vector, is at most max_norm: each
/// is multiplied by min(1, max_norm / (norm + 1e-6)). With norm_type = infinity the norm is the largest
/// magnitude. Returns the norm before scaling. Ignores parameters without a gradient. If the norm is NaN, so
/// is every gradient afterwards. Throws if max_norm is negative or norm_type is not positive.
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                       SourceLocation line = SourceLocation::current());

/// Limits every element of every gradient to [-clip_value, clip_value]. Throws if clip_value is negative.
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value,
                      SourceLocation line = SourceLocation::current());

}  // namespace heed
