#include "nn/text/sequence_loss.h"

#include "autograd/node.h"
#include "nn/text/vocabulary.h"

namespace heed {

Tensor sequence_loss(Operand logits, Operand targets, Operand lengths, const SequenceLossOptions& options) {
  const Calling here("sequence_loss", logits.line());
  check_indices(targets);
  check(logits->dim() == 3 && targets->shape() == Shape(logits->shape().data(), 2), "the logits are ",
        logits->shape(), ", the targets ", targets->shape(), "; they must be [B, T, C] and [B, T]");
  const int64_t batch = targets->size(0), time = targets->size(1), ignored = -100;
  Tensor counts;
  if (lengths.defined()) {
    check_indices(lengths);
    check(lengths->shape() == Shape{batch}, "the lengths are ", lengths->shape(), ", the targets ",
          targets->shape(), "; there must be one length for each row");
    check(all(logical_and(lengths >= 0, lengths <= time)).item<bool>(), "a length lies outside 0 to ", time,
          ", the size of the targets");
    counts = arange(0, static_cast<double>(time), 1, int64) < unsqueeze(lengths, 1);
  } else {
    counts = targets != Vocabulary::pad;
  }
  check(
      all(logical_or(logical_not(counts), logical_and(targets >= 0, targets < logits->size(2)))).item<bool>(),
      "a target that counts is none of the ", logits->size(2), " classes, 0 to ", logits->size(2) - 1,
      " (is the vocabulary larger than the last layer?)");
  check(options.reduction != Reduction::mean || any(counts).item<bool>(),
        "no token counts, so there is no mean; every sequence is padding");
  return softmax_cross_entropy(
      logits, where(counts, targets, ignored),
      {.ignore_index = ignored, .reduction = options.reduction, .label_smoothing = options.label_smoothing});
}

}  // namespace heed
