#include "nn/debug/anomaly.h"

#include "tensor/kernels/reduce.h"
#include "tensor/table.h"

namespace heed {
namespace {

using detail::text;

double element(const Tensor& x, int64_t index) { return x.to_vector<double>()[static_cast<size_t>(index)]; }

// "nan at [0, 1]"
std::string value_at(const Tensor& x, int64_t index) {
  return text(element(x, index), x.dim() == 0 ? "" : " at " + detail::coordinates(index, x.shape()));
}

// "float32 [2, 3] from 0 to 7", "float32 [2] of 1, nan"
std::string described(const Tensor& x) {
  constexpr int64_t kListed = 6;
  std::string all = text(x.dtype(), " ", x.shape());
  if (x.numel() > kListed) return all + " " + detail::range_text(x);
  return all + (x.numel() > 0 ? " of " : "") + detail::listed(x.to_vector<double>());
}

// All operands. Operands of the shape of the result are listed with their value at `index`.
std::string described(const std::vector<Tensor>& inputs, const Tensor& result, int64_t index) {
  std::string all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    if (!x.defined()) continue;
    all += text("; operand ", i + 1, " is ", described(x));
    if (x.shape() == result.shape() && x.numel() > 1) all += text(", there ", element(x, index));
  }
  return all;
}

}  // namespace

int64_t AnomalyGuard::first_anomaly(const Tensor& x) const {
  return x.defined() ? kernel::first_anomaly(x, options_.infinity) : -1;
}

// In a gradient rule only the gradients are checked: a rule may divide by 0 and select another branch.
void AnomalyGuard::on_result(const Operation& op, const Tensor& value) {
  const int64_t at = OpScope::rule() ? -1 : first_anomaly(value);
  if (at < 0) return;
  const auto report = [&](const Tensor& x, int64_t index, const std::string& what, const char* remark) {
    fail_in(op.name, what, value_at(x, index), remark, described(op.inputs, value, at),
            element(x, index) == -INFINITY ? "; AnomalyGuard({.infinity = false}) allows masks of -inf" : "");
  };
  for (size_t i = 0; i < op.inputs.size(); ++i)
    if (const int64_t wrong = first_anomaly(op.inputs[i]); wrong >= 0)
      report(op.inputs[i], wrong, text("operand ", i + 1, " contains "),
             ", which no operation under the guard computed; check the data, the parameters, and writes into "
             "them");
  report(value, at, text("the result ", value.shape(), " is "), "");
}

// Drops operations whose graph was freed or released: the latest ones at every call, because a backward pass
// releases these first, and the others once there are many.
void AnomalyGuard::drop_finished() {
  const auto finished = [](const Recorded& one) { return one.node->released || one.node.unique(); };
  while (!recorded_.empty() && finished(recorded_.back())) recorded_.pop_back();
  if (recorded_.size() < limit_) return;
  std::erase_if(recorded_, finished);
  limit_ = std::max<size_t>(1024, 2 * recorded_.size());
}

void AnomalyGuard::on_recorded(const Operation& op, const Tensor&, Node& node) {
  drop_finished();
  recorded_.push_back({Ref<Node>(&node), op.inputs});
}

void AnomalyGuard::on_backward(Node& node, const Tensor& g) {
  drop_finished();
  running_ = &node;
  incoming_ = g;
}

void AnomalyGuard::on_gradient(Node& input, const Tensor& g, bool) {
  const int64_t at = first_anomaly(g);
  if (at < 0 || first_anomaly(incoming_) >= 0) return;
  size_t operand = 0;
  while (running_->inputs()[operand].node.get() != &input) ++operand;
  const auto found = std::ranges::find(recorded_, running_, [](const auto& one) { return one.node.get(); });
  fail(*running_->module ? text("in ", running_->module, ": ") : "", "the gradient of operand ", operand + 1,
       " ", g.shape(), " is ", value_at(g, at), "; the incoming gradient is ", described(incoming_),
       found == recorded_.end() ? "" : described(found->inputs, g, at));
}

}  // namespace heed
