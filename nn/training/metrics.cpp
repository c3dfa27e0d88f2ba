#include "nn/training/metrics.h"

#include "autograd/ops/basic.h"
#include "autograd/ops/sort.h"

namespace heed {

// Predicted and true classes as vectors, without those that do not count.
static std::array<Tensor, 2> class_pairs(const Operand& prediction, const Operand& target,
                                         int64_t ignore_index) {
  const bool scores = is_floating(prediction->dtype()) && prediction->dim() > 0;
  const Tensor predicted = scores ? argmax(prediction->detach(), -1) : prediction.tensor();
  check(predicted.dtype() == int64 && target->dtype() == int64 && predicted.shape() == target->shape(),
        "the prediction is ", prediction->dtype(), " ", prediction->shape(), ", the target ", target->dtype(),
        " ", target->shape(), "; for an int64 target [...] give scores [..., C] or int64 classes [...]");
  const Tensor counts = ne(target, ignore_index);
  return {masked_select(predicted, counts), masked_select(target, counts)};
}

double accuracy(Operand prediction, Operand target, int64_t ignore_index) {
  const OpScope scope("accuracy", prediction.line());
  const auto [predicted, wanted] = class_pairs(prediction, target, ignore_index);
  return wanted.numel() == 0 ? 0 : mean(to(predicted == wanted, float64)).item();
}

Tensor confusion_matrix(Operand prediction, Operand target, int64_t num_classes, int64_t ignore_index) {
  const OpScope scope("confusion_matrix", prediction.line());
  const auto [predicted, wanted] = class_pairs(prediction, target, ignore_index);
  const Tensor both = cat({predicted, wanted});
  int64_t n = num_classes;
  if (n == -1 && is_floating(prediction->dtype())) n = prediction->size(-1);
  if (n == -1) n = both.numel() == 0 ? 0 : max(both).item<int64_t>() + 1;
  if (!all(logical_and(both >= 0, both < n)).item<bool>())
    fail("the classes are ", detail::range_text(both), "; with num_classes = ", n, " they are 0 to ", n - 1);
  const Tensor places = wanted * n + predicted;
  return reshape(index_add(zeros({n * n}, int64), 0, places, ones_like(places)), {n, n});
}

}  // namespace heed
