#include "nn/debug/anomaly.h"

#include "tensor/kernels/reduce.h"

namespace heed {
namespace {

// "[0, 1]": where the element of this number stands in row-major order.
std::string place_of(const Tensor& x, int64_t element) {
  Shape place = x.shape();
  for (int64_t d = x.dim() - 1; d >= 0; --d) {
    const auto at = static_cast<size_t>(d);
    place[at] = element % x.shape()[at];
    element /= x.shape()[at];
  }
  return x.dim() == 0 ? "" : " at " + to_string(place);
}

double element(const Tensor& x, int64_t number) { return x.to_vector<double>()[static_cast<size_t>(number)]; }

// "float32 [2, 3] from 0 to 7", "float32 [2] of 1, nan"
std::string described(const Tensor& x) {
  constexpr int64_t kListed = 6;
  std::string text = to_string(x.dtype()) + " " + to_string(x.shape());
  std::vector<double> numbers = x.to_vector<double>();
  if (x.numel() <= kListed) {
    for (size_t i = 0; i < numbers.size(); ++i) text += (i ? ", " : " of ") + to_string(numbers[i]);
    return text;
  }
  const auto none = std::erase_if(numbers, [](double number) { return std::isnan(number); });
  if (!numbers.empty()) {
    const auto [least, most] = std::ranges::minmax(numbers);
    text += " from " + to_string(least) + " to " + to_string(most);
  }
  return none == 0 ? text : text + " with " + std::to_string(none) + " NaN";
}

// For those who mask scores by it.
const char* hint(double anomaly) {
  return anomaly == -INFINITY ? "; AnomalyGuard({.infinity = false}) lets masks of -inf pass" : "";
}

// All of them, each with what stands at the place of the anomaly, where that is a place of its own.
std::string described(const std::vector<Tensor>& inputs, const Tensor& value, int64_t at) {
  std::string text;
  size_t number = 0;
  for (const Tensor& x : inputs) {
    ++number;
    if (!x.defined()) continue;
    text += "; operand " + std::to_string(number) + " is " + described(x);
    if (x.shape() == value.shape() && x.numel() > 1) text += ", there " + to_string(element(x, at));
  }
  return text;
}

}  // namespace

void AnomalyGuard::on_result(const Operation& op, const Tensor& value) {
  if (OpScope::rule()) return;  // what arrives counts: a rule may well divide by 0 and take another branch
  const int64_t at = kernel::first_anomaly(value, options_.infinity);
  if (at < 0) return;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const Tensor& x = op.inputs[i];
    if (const int64_t wrong = x.defined() ? kernel::first_anomaly(x, options_.infinity) : -1; wrong >= 0)
      fail_in(
          op.name, "operand ", i + 1, " came with ", element(x, wrong), place_of(x, wrong),
          ", which no operation under the guard computed; look at the data, the parameters, and what wrote "
          "into them",
          described(op.inputs, value, at), hint(element(x, wrong)));
  }
  fail_in(op.name, "the result ", value.shape(), " is ", element(value, at), place_of(value, at),
          described(op.inputs, value, at), hint(element(value, at)));
}

// Of what belongs to graphs that are gone or were walked backwards: the last first, as a pass goes, and all
// once in a while.
void AnomalyGuard::let_go() {
  const auto over = [](const Kept& kept) { return kept.node->released || kept.node.unique(); };
  while (!kept_.empty() && over(kept_.back())) kept_.pop_back();
  if (kept_.size() < enough_) return;
  std::erase_if(kept_, over);
  enough_ = std::max<size_t>(1024, 2 * kept_.size());
}

void AnomalyGuard::on_recorded(const Operation& op, const Tensor&, Node& node) {
  let_go();
  kept_.push_back({Ref<Node>(&node), op.inputs});
}

void AnomalyGuard::on_backward(Node& node, const Tensor& g) {
  let_go();
  running_ = &node;
  given_ = g;
}

void AnomalyGuard::on_gradient(Node& input, const Tensor& g, bool) {
  const int64_t at = kernel::first_anomaly(g, options_.infinity);
  if (at < 0 || kernel::first_anomaly(given_, options_.infinity) >= 0) return;
  size_t operand = 0;
  while (running_->inputs()[operand].node.get() != &input) ++operand;
  const auto kept = std::ranges::find(kept_, running_, [](const Kept& one) { return one.node.get(); });
  const std::string place = *running_->module ? std::string("in ") + running_->module + ": " : "";
  fail(place, "the gradient of operand ", operand + 1, " ", g.shape(), " is ", element(g, at),
       place_of(g, at), "; the incoming gradient is ", described(given_),
       kept == kept_.end() ? "" : described(kept->inputs, g, at));
}

}  // namespace heed
