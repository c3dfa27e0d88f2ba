#pragma once

#include "tensor/tensor.h"

/// Gradients kept small.
namespace heed {

/// Scales all gradients together so that their norm, taken as of one long vector, is at most max_norm:
/// each is multiplied by min(1, max_norm / (norm + 1e-6)). norm_type may be infinity, for the largest
/// magnitude. Returns the norm from before. Parameters without a gradient are passed over. A norm that is not
/// a number makes every gradient so. Errors: max_norm below 0, norm_type not above 0.
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                       SourceLocation line = SourceLocation::current());

/// Limits every element of every gradient to [-clip_value, clip_value]. Errors: clip_value below 0.
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value,
                      SourceLocation line = SourceLocation::current());

}  // namespace heed
