#pragma once

#include "autograd/ops/loss.h"

/// The loss over sequences of different lengths.
namespace heed {

/// F::cross_entropy over the valid tokens of padded sequences, those at t < lengths[b]: whatever comes after
/// them changes neither the loss nor a gradient.
///
///   logits   [B, T, C]
///   targets  [B, T]     int64 in [0, C)
///   lengths  [B]        int64 in [0, T]; without: every target counts that is not <pad>
///   options  weight, reduction and label_smoothing
///   returns  the mean over the tokens that count, an error if none does; [B, T] unreduced, 0 at the others
Tensor sequence_loss(Operand logits, Operand targets, Operand lengths = {},
                     const CrossEntropyOptions& options = {});

}  // namespace heed
