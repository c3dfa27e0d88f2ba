#include "examples/playground/tape.h"

#include "examples/playground/expression.h"
#include "examples/playground/message.h"

namespace program {

using namespace heed;

namespace {

using Leaves = std::map<std::string, Tensor>;

constexpr int64_t kMostLeaves = 50, kMostNodes = 200, kMostNumbers = 8;

void append_count(std::vector<float>& answer, size_t count) { append(answer, static_cast<double>(count)); }

void append_values(std::vector<float>& answer, const Tensor& x) {
  append_count(answer, x.dim() == 0 ? 0 : static_cast<size_t>(x.numel()));
  append(answer, x);
}

Leaves leaves_of(RequestReader& request) {
  Leaves leaves;
  const int64_t count = request.integer("count of leaves", 0, kMostLeaves);
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = request.text("name");
    const int64_t size = request.integer("count of values", 0, kMostNumbers);
    const Tensor values = request.numbers("value", std::max<int64_t>(size, 1));
    leaves[name] = size == 0 ? reshape(values, {}) : values;
  }
  return leaves;
}

// The gradient of each node at the end of the backward pass.
std::vector<Tensor> gradients_of(const Tape& tape) {
  std::vector<Tensor> gradients;
  for (const TapeNode& node : tape.nodes()) gradients.push_back(zeros_like(node.value));
  for (const TapeStep& step : tape.steps()) {
    if (step.gradient.defined()) gradients[step.node] = step.gradient;
    for (const TapeStep::Contribution& part : step.contributions) gradients[part.to] = part.sum;
  }
  return gradients;
}

void append_nodes(std::vector<float>& answer, const Tape& tape) {
  const std::vector<Tensor> gradients = gradients_of(tape);
  append_count(answer, tape.nodes().size());
  for (size_t i = 0; i < tape.nodes().size(); ++i) {
    const TapeNode& node = tape.nodes()[i];
    append(answer, tape.label(i));
    append(answer, node.operation);
    append(answer, heed::detail::rule_of(tape, i));
    append_values(answer, node.value);
    append_values(answer, gradients[i]);
    append_count(answer, node.inputs.size());
    for (const size_t input : node.inputs) append_count(answer, input);
  }
}

// The steps of the backward pass; the first is that of the result.
std::vector<const TapeStep*> backward_steps(const Tape& tape) {
  std::vector<const TapeStep*> steps;
  for (const TapeStep& step : tape.steps())
    if (step.gradient.defined() && !step.contributions.empty()) steps.push_back(&step);
  return steps;
}

void append_backward(std::vector<float>& answer, const std::vector<const TapeStep*>& backward) {
  append_count(answer, backward.size());
  for (const TapeStep* step : backward) {
    append_count(answer, step->node);
    append_count(answer, step->contributions.size());
    for (const TapeStep::Contribution& part : step->contributions) {
      append_count(answer, part.to);
      append_count(answer, part.summed);
      append_values(answer, part.gradient);
    }
  }
}

// (y(x + h) - y(x - h)) / 2h for each number of the leaf `name`.
Tensor differences(const std::string& text, const Leaves& leaves, const std::string& name) {
  const NoGrad guard;
  const Tensor& x = leaves.at(name);
  std::vector<double> slopes, numbers = x.to_vector<double>();
  const auto result_with = [&](size_t place, double number) {
    Leaves changed = leaves;
    std::vector<double> values = numbers;
    values[place] = number;
    changed[name] = from_vector(values, x.shape(), float64);
    return compute(text, changed).result.item();
  };
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double h = 1e-5 * std::max(1.0, std::abs(numbers[i]));
    slopes.push_back((result_with(i, numbers[i] + h) - result_with(i, numbers[i] - h)) / (2 * h));
  }
  return from_vector(slopes, x.shape(), float64);
}

size_t node_of(const Tape& tape, const std::string& label) {
  size_t node = 0;
  while (tape.label(node) != label) ++node;
  return node;
}

}  // namespace

std::vector<float> tape(std::span<const float> numbers) {
  RequestReader request("tape", numbers);
  const std::string text = request.text("text");
  const Leaves given = leaves_of(request);
  request.end();

  Tape tape;
  const Computed computed = compute(text, given, &tape);
  check(computed.result.requires_grad(), "nothing here has a gradient; use a name, such as x");
  computed.result.backward();
  check(std::ssize(tape.nodes()) <= kMostNodes, "the formula has ", tape.nodes().size(), " nodes; ",
        kMostNodes, " are the limit");
  Leaves leaves;
  for (const std::string& name : computed.leaves) leaves[name] = computed.named.at(name).detach();
  for (const auto& [name, value] : given) check(leaves.contains(name), "the formula has no leaf ", name);

  const std::vector<const TapeStep*> backward = backward_steps(tape);
  check(!backward.empty(), "a leaf alone has no graph; compute with it, such as 2 * x");
  std::vector<float> answer;
  append_nodes(answer, tape);
  append_count(answer, backward[0]->node);
  append_backward(answer, backward);
  append_count(answer, computed.leaves.size());
  for (const std::string& name : computed.leaves) {
    append_count(answer, node_of(tape, name));
    append_values(answer, differences(text, leaves, name));
  }
  return answer;
}

std::vector<float> tape_first() {
  std::vector<float> request;
  append(request, std::string("y = tanh(w * x + b)"));
  append(request, 3);
  for (const auto& [name, value] : {std::pair("w", 0.5), std::pair("x", 2.0), std::pair("b", -0.25)}) {
    append(request, std::string(name));
    append(request, 0);
    append(request, value);
  }
  return request;
}

}  // namespace program
