#include "nn/text/sequence_loss.h"

#include "autograd/ops/basic.h"
#include "nn/attention/mask.h"
#include "nn/text/vocabulary.h"

namespace heed {

Tensor sequence_loss(Operand logits, Operand targets, Operand lengths, const CrossEntropyOptions& options) {
  const OpScope scope("sequence_loss", logits.line());
  check_indices(targets);
  check(logits->dim() == 3 && targets->shape() == Shape(logits->shape().data(), 2), "the logits are ",
        logits->shape(), ", the targets ", targets->shape(), "; they must be [B, T, C] and [B, T]");
  check(!lengths.defined() || lengths->shape() == Shape{targets->size(0)}, "the lengths are ",
        lengths.defined() ? lengths->shape() : Shape{}, ", the targets ", targets->shape(),
        "; there must be one length for each row");
  const Tensor valid = lengths.defined() ? squeeze(Mask::lengths(lengths, targets->size(1)).allowed(), 1)
                                         : targets != Vocabulary::pad;
  const Tensor of_class = logical_and(targets >= 0, targets < logits->size(2));
  check(all(logical_or(logical_not(valid), of_class)).item<bool>(), "a valid target is not one of the ",
        logits->size(2), " classes, 0 to ", logits->size(2) - 1,
        " (is the vocabulary larger than the last layer?)");
  check(options.reduction != Reduction::mean || any(valid).item<bool>(),
        "no token is valid, so the mean is undefined; every sequence is padding");
  CrossEntropyOptions counted = options;
  counted.ignore_index = -100;
  counted.class_dim = -1;
  return softmax_cross_entropy(logits, where(valid, targets, counted.ignore_index), counted);
}

}  // namespace heed
