#include "nn/view/tape.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/shape.h"
#include "nn/view/markup.h"
#include "nn/view/rules.h"
#include "tensor/table.h"

namespace heed {
namespace {

constexpr int64_t kMostNumbers = 16, kMostInRow = 6;  // that are shown of a tensor

bool is_small(const Tensor& x) {
  return x.dim() == 0 || (x.numel() > 0 && x.numel() <= kMostNumbers && x.size(-1) <= kMostInRow);
}

std::string bracketed(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) text += (text.empty() ? "" : ", ") + short_number(number);
  return "[" + text + "]";
}

}  // namespace

std::vector<std::string> detail::rows_of(const Tensor& x) {
  if (x.numel() == 0) return {"no numbers, " + to_string(x.shape())};
  if (!is_small(x)) return {to_string(x.shape()) + " " + range_text(x)};
  const auto numbers = x.to_vector<double>();
  if (x.dim() == 0) return {short_number(numbers[0])};
  std::vector<std::string> rows;
  const auto columns = static_cast<size_t>(x.size(-1));
  for (size_t at = 0; at < numbers.size(); at += columns)
    rows.push_back(bracketed(
        {numbers.begin() + static_cast<int64_t>(at), numbers.begin() + static_cast<int64_t>(at + columns)}));
  return rows;
}

std::string detail::in_line(const Tensor& x) {
  std::vector<std::string> rows = rows_of(x);
  // Rows are joined to matrices, these to stacks of them, and so on.
  for (int64_t dim = x.dim() - 2; is_small(x) && dim >= 0; --dim) {
    std::vector<std::string> joined;
    const auto count = static_cast<size_t>(x.size(dim));
    for (size_t at = 0; at < rows.size(); at += count)
      joined.push_back(
          "[" +
          listed({rows.begin() + static_cast<int64_t>(at), rows.begin() + static_cast<int64_t>(at + count)}) +
          "]");
    rows = std::move(joined);
  }
  return rows[0];
}

std::string detail::place_of(SourceLocation line) {
  const std::string place = user_line(line);
  return place.substr(place.rfind('/') + 1);
}

std::string detail::rule_of(const Tape& tape, size_t node) {
  std::vector<std::string> names;
  for (const size_t input : tape.nodes()[node].inputs)
    names.push_back(tape.label(input).starts_with('-') ? "(" + tape.label(input) + ")" : tape.label(input));
  return with_names(tape.nodes()[node].rule, names, tape.label(node));
}

void Tape::name(const std::string& name, const Tensor& x) {
  check(x.defined(), "Tape::name: \"", name, "\" is to be the name of an undefined tensor");
  nodes_[known(x)].name = detail::visible("Tape::name: a name", name);
}

void Tape::name(const std::string& prefix, const Module& module) {
  for (const auto& [path, parameter] : module.named_parameters())
    name(detail::joined(prefix, prefix.empty() ? "" : ".", path), parameter);
}

std::string Tape::label(size_t node) const {
  check(node < nodes_.size(), "Tape::label: node ", node, " of ", nodes_.size(), "; they count from 0");
  const TapeNode& one = nodes_[node];
  if (!one.name.empty()) return one.name;
  if (one.operation == "constant" && one.value.dim() == 0) return short_number(one.value.item());
  return "#" + std::to_string(node + 1);
}

size_t Tape::add(const void* identity, TapeNode node) {
  const size_t place = nodes_.size();
  places_[identity] = {place, TensorImpl::of(node.value).storage->version};
  node.value = clone(node.value);
  const bool number = node.operation == "constant" && node.value.dim() == 0;
  nodes_.push_back(std::move(node));
  if (!number) steps_.push_back({.node = place});
  return place;
}

// The place of an input or of a tensor that gets a name: one that was not seen before has come from outside.
size_t Tape::known(const Tensor& x) {
  const NoGrad guard;
  Node* node = x.requires_grad() ? Node::of(x) : nullptr;
  const void* identity = node ? static_cast<const void*>(node) : &TensorImpl::of(x);
  std::string name;
  if (const auto found = places_.find(identity); found != places_.end()) {
    const bool written = found->second.version != TensorImpl::of(x).storage->version;
    if (!written || (node && !node->is_leaf())) return found->second.node;
    name = nodes_[found->second.node].name;
  }
  if (!node) {
    kept_constants_.push_back(x);
    return add(identity, {.name = name, .operation = "constant", .value = x.detach()});
  }
  kept_nodes_.emplace_back(node);
  return add(identity, {.name = name,
                        .operation = node->name,
                        .module = node->module,
                        .line = node->line,
                        .value = x.detach()});
}

void Tape::on_recorded(const Operation& op, const Tensor& value, Node& node) {
  TapeNode seen{.operation = node.name, .module = node.module, .line = node.line, .value = value.detach()};
  std::vector<std::string> names;  // of the inputs in `rule`, "" for one that was not given
  for (const Tensor& input : op.inputs) {
    names.emplace_back();
    if (!input.defined()) continue;
    seen.inputs.push_back(known(input));
    names.back() = "$" + std::to_string(seen.inputs.size());
  }
  seen.rule = gradient_rule(node, names, "$y");
  kept_nodes_.emplace_back(&node);
  add(&node, std::move(seen));
}

// A node that the tape did not see made has no numbers to show, and neither has what its rule gives.
void Tape::on_backward(Node& node, const Tensor& g) {
  if (std::exchange(pass_id_, node.pass_id) != node.pass_id) {
    sums_.clear();
    ++passes_;
  }
  const auto found = places_.find(&node);
  rule_step_ = found == places_.end() ? kNone : steps_.size();
  if (rule_step_ != kNone)
    steps_.push_back({.node = found->second.node, .gradient = clone(g), .pass = passes_});
}

void Tape::on_gradient(Node& input, const Tensor& g, bool summed) {
  const auto found = places_.find(&input);
  if (rule_step_ == kNone || found == places_.end()) return;
  Tensor& sum = sums_[found->second.node];
  sum = sum.defined() ? sum + g : clone(g);
  steps_[rule_step_].gifts.push_back({found->second.node, clone(g), clone(sum), summed});
}

std::string tape_text(const Tape& tape, size_t step) {
  check(step < tape.steps().size(), "tape_text: step ", step, " of ", tape.steps().size(),
        "; they count from 0");
  const TapeStep& now = tape.steps()[step];
  const TapeNode& node = tape.nodes()[now.node];
  const std::string place = detail::place_of(node.line),
                    at = (node.module.empty() ? "" : "    in " + node.module) +
                         (place.empty() ? "" : "    at " + place);
  std::string text = tape.label(now.node);
  if (!now.gradient.defined()) {
    text += " = ";
    if (!node.inputs.empty()) {
      std::vector<std::string> inputs;
      for (const size_t input : node.inputs) inputs.push_back(tape.label(input));
      text += node.operation + "(" + detail::listed(inputs) + ") = ";
    }
    text += detail::in_line(node.value);
    return text + (node.inputs.empty() ? "    " + node.operation : at);
  }
  text += ": g = " + detail::in_line(now.gradient) + "    " + node.operation;
  if (const std::string rule = detail::rule_of(tape, now.node); !rule.empty()) text += ": " + rule;
  text += at;
  for (const auto& [to, gradient, sum, summed] : now.gifts) {
    text += "\n    " + tape.label(to) + " gets " + detail::in_line(gradient);
    if (summed) text += ", summed over what was broadcast";
    if (const std::string all = detail::in_line(sum); all != detail::in_line(gradient))
      text += ", has " + all;
  }
  return text;
}

std::string tape_text(const Tape& tape) {
  std::string text;
  int64_t pass = -1;  // 0 for values
  for (size_t i = 0; i < tape.steps().size(); ++i) {
    if (std::exchange(pass, tape.steps()[i].pass) != pass)
      text += pass > 0 ? "backward: each operation once all that use its result have had their turn\n"
                       : "forward: each operation when it is computed\n";
    text += tape_text(tape, i) + "\n";
  }
  return text;
}

}  // namespace heed
