#include "nn/training/metrics.h"

#include <algorithm>

#include "autograd/ops/sort.h"
#include "tensor/create.h"

namespace heed {
namespace {

// Predicted and true classes, without those that do not count.
struct ClassPairs {
  std::vector<int64_t> predicted, target;
};

ClassPairs class_pairs(const char* op, const Operand& prediction, const Operand& target,
                       int64_t ignore_index) {
  const OpScope scope(op, prediction.line());
  const bool scores = is_floating(prediction->dtype()) && prediction->dim() > 0;
  const Tensor classes = scores ? argmax(prediction, -1) : prediction.tensor();
  check(classes.dtype() == int64 && target->dtype() == int64 && classes.shape() == target->shape(),
        "the prediction is ", prediction->dtype(), " ", prediction->shape(), ", the target ", target->dtype(),
        " ", target->shape(), "; for an int64 target [...] give scores [..., C] or int64 classes [...]");
  const auto all = classes.to_vector<int64_t>(), right = target->to_vector<int64_t>();
  ClassPairs pairs;
  for (size_t i = 0; i < all.size(); ++i) {
    if (right[i] == ignore_index) continue;
    pairs.predicted.push_back(all[i]);
    pairs.target.push_back(right[i]);
  }
  return pairs;
}

}  // namespace

double accuracy(Operand prediction, Operand target, int64_t ignore_index) {
  const auto [predicted, wanted] = class_pairs("accuracy", prediction, target, ignore_index);
  int64_t right = 0;
  for (size_t i = 0; i < wanted.size(); ++i) right += predicted[i] == wanted[i];
  return static_cast<double>(right) / static_cast<double>(std::max<size_t>(wanted.size(), 1));
}

Tensor confusion_matrix(Operand prediction, Operand target, int64_t num_classes, int64_t ignore_index) {
  const OpScope scope("confusion_matrix", prediction.line());
  const auto [predicted, wanted] = class_pairs("confusion_matrix", prediction, target, ignore_index);
  if (num_classes == -1 && is_floating(prediction->dtype())) num_classes = prediction->size(-1);
  if (num_classes == -1)
    for (const auto* classes : {&predicted, &wanted})
      for (const int64_t c : *classes) num_classes = std::max(num_classes, c + 1);
  num_classes = std::max<int64_t>(num_classes, 0);
  const Tensor y = zeros({num_classes, num_classes}, int64);
  auto* counts = y.mutable_data<int64_t>();
  for (size_t i = 0; i < wanted.size(); ++i) {
    for (const int64_t c : {predicted[i], wanted[i]})
      check(0 <= c && c < num_classes, "class ", c, " is not one of ", num_classes, "; classes count from 0");
    ++counts[wanted[i] * num_classes + predicted[i]];
  }
  return y;
}

}  // namespace heed
