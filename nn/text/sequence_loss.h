#pragma once

#include "autograd/ops/loss.h"

/// The loss over sequences of different lengths.
namespace heed {

/// F::cross_entropy over the valid tokens of padded sequences, t < lengths[b]. Padding changes neither the
/// loss nor a gradient.
///
///   logits   [B, T, C]
///   targets  [B, T]     int64 in [0, C)
///   lengths  [B]        int64 in [0, T]; without it, every target other than <pad> is valid
///   options  weight, reduction and label_smoothing
///   returns  the mean over the valid tokens, or [B, T] unreduced with 0 for padding
///
/// Throws if the mean has no valid token.
Tensor sequence_loss(Operand logits, Operand targets, Operand lengths = {},
                     const CrossEntropyOptions& options = {});

}  // namespace heed
