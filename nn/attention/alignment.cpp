#include "nn/attention/alignment.h"

#include "autograd/ops/basic.h"

namespace heed::F {

Tensor masked_log_softmax(const Tensor& scores, const Mask& mask) {
  if (mask.allows_all()) return log_softmax(scores, -1);
  const Tensor allowed = broadcast_to(mask.allowed(), scores.shape());
  // A row of -inf would give NaN.
  const Tensor other = where(sum(to(allowed, int64), -1, true) > 0, -INFINITY, 0.0);
  return where(allowed, log_softmax(where(allowed, scores, to(other, scores.dtype())), -1), -INFINITY);
}

Tensor copy_mixture(Operand generated, Operand weights, Operand source, Operand gate) {
  const OpScope scope("copy_mixture", generated.line());
  check(weights->dim() >= 2 && source->dim() >= 1 && source->size(-1) == weights->size(-1) &&
            generated->dim() == weights->dim() && generated->size(-2) == weights->size(-2),
        "generated is ", generated->shape(), ", weights are ", weights->shape(), ", source is ",
        source->shape(), "; they must be [..., Tq, C], [..., Tq, Tk] and [..., Tk]");
  return scatter_add(gate * generated, -1, broadcast_to(unsqueeze(source, -2), weights->shape()),
                     (1 - gate) * weights);
}

Tensor hard_monotonic_log_prob(Operand log_emission, Operand scores, const Tensor& mask) {
  const OpScope scope("hard_monotonic_log_prob", log_emission.line());
  check(log_emission->dim() >= 2 && log_emission->shape() == scores->shape() && scores->numel() > 0,
        "log_emission is ", log_emission->shape(), ", scores are ", scores->shape(),
        "; both must be [..., Tq, Tk] with at least one position");
  constexpr double kNever = -1e30;  // finite, so that no derivative is NaN
  const int64_t Tq = scores->size(-2), Tk = scores->size(-1);
  Tensor emission = log_emission, forward = unsqueeze(arange(Tk, int64), 1) <= arange(Tk, int64);  // k <= j
  if (mask.defined()) {
    emission = where(unsqueeze(mask, -2), emission, kNever);
    forward = logical_and(forward, unsqueeze(unsqueeze(mask, -2), -2));
  }
  const Tensor steps = log_softmax(where(forward, unsqueeze(scores, -2), kNever), -1);  // [..., Tq, k, j]
  Tensor f = select(emission, -2, 0) + select(select(steps, -3, 0), -2, 0);
  for (int64_t i = 1; i < Tq; ++i)
    f = select(emission, -2, i) + logsumexp(unsqueeze(f, -1) + select(steps, -3, i), -2);
  return logsumexp(f, -1);
}

}  // namespace heed::F
