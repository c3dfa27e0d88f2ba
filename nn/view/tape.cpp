#include "nn/view/tape.h"

#include "autograd/ops/basic.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace heed {

// Whether all values of x are shown.
static bool is_small(const Tensor& x) {
  return x.dim() == 0 || (x.numel() > 0 && x.numel() <= 16 && x.size(-1) <= 6);
}

static std::string nested_list(const Tensor& x) {
  if (x.dim() == 0) return short_number(x.item());
  const auto items = detail::mapped(split(x, 1), [](const Tensor& part) { return nested_list(part[0]); });
  return "[" + detail::listed(items) + "]";
}

// What a tensor is recognized by.
static const void* identity(const Tensor& x, const Node* node) {
  return node ? static_cast<const void*>(node) : &TensorImpl::of(x);
}

// A rule with $1, $2, ... replaced by `names` and $y by `result`.
static std::string with_names(const std::string& rule, const std::vector<std::string>& names,
                              const std::string& result) {
  size_t at = rule.find('$');
  std::string text = rule.substr(0, at);
  while (at != std::string::npos) {
    size_t length = 1;
    const std::string& name =
        rule[at + 1] == 'y' ? result : names.at(std::stoul(rule.substr(at + 1), &length) - 1);
    if (name.empty() && text.ends_with(' ')) text.pop_back();  // a factor that was not given
    const size_t rest = at + 1 + length;
    at = rule.find('$', rest);
    text += name + rule.substr(rest, at - rest);
  }
  return text;
}

// A text is a formula, or "definitions: formula". Definitions hold for all formulas of the node and may stand
// alone: "s = sigmoid($1): g s (1 + $1 (1 − s))", "each input gets its part of g: ".
std::string gradient_rule(const Node& node, const std::vector<std::string>& names,
                          const std::string& result) {
  std::string definitions, formulas;
  for (size_t i = 0; i < names.size(); ++i) {
    const Node::Input& input = node.inputs()[i];
    std::string formula = input.text ? input.text : "";
    if (const size_t colon = formula.find(": "); colon != std::string::npos) {
      definitions = formula.substr(0, colon);
      formula.erase(0, colon + 2);
    }
    if (!input.node || formula.empty()) continue;
    formulas += (formulas.empty() ? "d" : ", d") + names[i] + " = " + with_names(formula, names, result);
  }
  const std::string between = definitions.empty() || formulas.empty() ? "" : ": ";
  return with_names(definitions, names, result) + between + formulas;
}

std::vector<std::string> detail::rows_of(const Tensor& x) {
  if (!is_small(x) || x.dim() < 2) return {in_line(x)};
  return mapped(split(reshape(x, {-1, x.size(-1)}), 1), [](const auto& row) { return nested_list(row[0]); });
}

std::string detail::in_line(const Tensor& x) {
  if (x.numel() == 0) return "no numbers, " + to_string(x.shape());
  return is_small(x) ? nested_list(x) : to_string(x.shape()) + " " + range_text(x);
}

std::string detail::place_of(SourceLocation line) {
  const std::string place = user_line(line);
  return place.substr(place.rfind('/') + 1);
}

std::string detail::rule_of(const Tape& tape, size_t node) {
  const auto names = mapped(tape.nodes()[node].inputs, [&](size_t input) {
    const std::string label = tape.label(input);
    return label.starts_with('-') ? "(" + label + ")" : label;
  });
  return with_names(tape.nodes()[node].rule, names, tape.label(node));
}

void Tape::name(const std::string& name, const Tensor& x) {
  check(x.defined(), "Tape::name: the tensor for the name \"", name, "\" is undefined");
  check_utf8("Tape::name: a name", name);
  nodes_[known(x)].name = printable(name, Hidden::pictures);
}

void Tape::name(const std::string& prefix, const Module& module) {
  for (const auto& [path, parameter] : module.named_parameters())
    name(detail::text(prefix, prefix.empty() ? "" : ".", path), parameter);
}

std::string Tape::label(size_t node) const {
  check(node < nodes_.size(), "Tape::label: node ", node, " of ", nodes_.size(), "; they count from 0");
  const TapeNode& one = nodes_[node];
  if (!one.name.empty()) return one.name;
  if (one.operation == "constant" && one.value.dim() == 0) return short_number(one.value.item());
  return "#" + std::to_string(node + 1);
}

// Adds x with the value that it has now; `node` is its graph node, or null for a constant.
size_t Tape::add(const Tensor& x, Node* node, TapeNode seen) {
  const size_t place = nodes_.size();
  places_[identity(x, node)] = {place, TensorImpl::of(x).storage->version, Ref<Node>(node),
                                node ? Tensor() : x};
  seen.operation = node ? node->name : "constant";
  seen.module = node ? node->module : "";
  seen.line = node ? node->line : SourceLocation();
  seen.value = clone(x.detach());
  if (node || x.dim() > 0) steps_.push_back({.node = place});
  nodes_.push_back(std::move(seen));
  return place;
}

// The index of a tensor's node. The tape has not seen how a new tensor was computed, so its node has no
// inputs.
size_t Tape::known(const Tensor& x) {
  Node* node = x.requires_grad() ? Node::of(x) : nullptr;
  TapeNode seen;
  if (const auto found = places_.find(identity(x, node)); found != places_.end()) {
    const bool overwritten = found->second.version != TensorImpl::of(x).storage->version;
    if (!overwritten || (node && !node->is_leaf())) return found->second.node;
    seen.name = nodes_[found->second.node].name;
  }
  return add(x, node, std::move(seen));
}

void Tape::on_recorded(const Operation& op, const Tensor& value, Node& node) {
  TapeNode seen;
  std::vector<std::string> names;  // of the inputs in `rule`, "" for one that was not given
  for (const Tensor& input : op.inputs) {
    names.emplace_back();
    if (!input.defined()) continue;
    seen.inputs.push_back(known(input));
    names.back() = "$" + std::to_string(seen.inputs.size());
  }
  seen.rule = gradient_rule(node, names, "$y");
  add(value, &node, std::move(seen));
}

// Nodes from before the tape have no step, since the tape has no value for them.
void Tape::on_backward(Node& node, const Tensor& g) {
  if (std::exchange(pass_id_, node.pass_id) != node.pass_id) {
    sums_.clear();
    ++passes_;
  }
  const auto found = places_.find(&node);
  rule_step_.reset();
  if (found == places_.end()) return;
  rule_step_ = steps_.size();
  steps_.push_back({.node = found->second.node, .gradient = clone(g), .pass = passes_});
}

void Tape::on_gradient(Node& input, const Tensor& g, bool summed) {
  const auto found = places_.find(&input);
  if (!rule_step_ || found == places_.end()) return;
  Tensor& sum = sums_[found->second.node];
  sum = sum.defined() ? sum + g : clone(g);
  steps_[*rule_step_].contributions.push_back({found->second.node, clone(g), clone(sum), summed});
}

std::string tape_text(const Tape& tape, size_t step) {
  check(step < tape.steps().size(), "tape_text: step ", step, " of ", tape.steps().size(),
        "; they count from 0");
  const auto& [node_index, gradient, contributions, pass] = tape.steps()[step];
  const TapeNode& node = tape.nodes()[node_index];
  std::string place = node.module.empty() ? "" : "    in " + node.module;
  if (const std::string line = detail::place_of(node.line); !line.empty()) place += "    at " + line;
  const std::string label = tape.label(node_index), value = detail::in_line(node.value);
  if (!gradient.defined()) {
    if (node.inputs.empty()) return detail::text(label, " = ", value, "    ", node.operation);
    const auto inputs = detail::mapped(node.inputs, [&](size_t input) { return tape.label(input); });
    return detail::text(label, " = ", node.operation, "(", detail::listed(inputs), ") = ", value, place);
  }
  const std::string rule = detail::rule_of(tape, node_index);
  std::string text = detail::text(label, ": g = ", detail::in_line(gradient), "    ", node.operation,
                                  rule.empty() ? "" : ": ", rule, place);
  for (const auto& [to, part, sum, summed] : contributions) {
    const std::string added = detail::in_line(part), total = detail::in_line(sum);
    text += detail::text("\n    ", tape.label(to), " gets ", added,
                         summed ? ", summed over broadcast dimensions" : "",
                         total == added ? "" : ", sum " + total);
  }
  return text;
}

std::string tape_text(const Tape& tape) {
  std::string text;
  int64_t pass = -1;  // 0 in the forward pass
  for (size_t i = 0; i < tape.steps().size(); ++i) {
    if (std::exchange(pass, tape.steps()[i].pass) != pass)
      text += pass > 0 ? "backward: the rule of each operation, after those of all its users\n"
                       : "forward: the operations in order\n";
    text += tape_text(tape, i) + "\n";
  }
  return text;
}

}  // namespace heed
