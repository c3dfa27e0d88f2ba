#include "autograd/node.h"

#include "autograd/recompute.h"

namespace heed {
namespace {

SourceLocation line_of(const Operand& input) {
  const OpScope* outermost = detail::current_scope;
  return outermost && outermost->role == OpScope::Role::operation ? outermost->line : input.line();
}

// Tells the observers of a result, and of its node if it was recorded.
[[gnu::cold, gnu::noinline]] void notify(const char* name, const std::vector<Edge>& edges,
                                         Attributes attributes, const Tensor& value, Node* node) {
  std::vector<Tensor> inputs;
  for (const Edge& edge : edges) inputs.push_back(edge.input);
  const Operation operation{name, line_of(edges.front().input), inputs, attributes, grad_enabled()};
  Observer::each([&](Observer& observer) {
    node ? observer.on_recorded(operation, value, *node) : observer.on_result(operation, value);
  });
}

}  // namespace

Tensor record(const char* name, Tensor value, std::initializer_list<Edge> edges, Attributes attributes) {
  if (Observer::any()) notify(name, edges, attributes, value, nullptr);
  if (!grad_enabled()) return value;
  size_t rule_bytes = 0;
  for (const Edge& edge : edges)
    if (edge.needs_gradient()) rule_bytes += Node::rule_space(edge.table->size);
  if (rule_bytes == 0) return value;

  Node& node = Node::make(name, value, line_of(edges.begin()->input), edges.size(), rule_bytes);
  Ref<AutogradMeta> meta(&node);  // attached last, since `value` may be one of the operands
  Node::Input* next = node.inputs();
  char* space = node.rules();
  for (const Edge& edge : edges) {
    Node::Input& input = *next++;
    if (!edge.needs_gradient()) continue;
    input.node = Ref<Node>(Node::of(edge.input));
    input.table = edge.table;
    input.text = edge.text;
    edge.table->move(space, edge.rule);
    input.rule = space;
    space += Node::rule_space(edge.table->size);
    if (edge.table->reads_result && !node.result.defined()) node.result = value.detach();
  }
  TensorImpl::of(value).autograd = std::move(meta);
  if (Observer::any()) notify(name, edges, attributes, value, &node);
  return value;
}

Tensor record(const char* name, Tensor value, const std::vector<Operand>& inputs, JointRule rule,
              ReferenceFunction reference_function, ReferenceFunction recompute, Attributes attributes,
              std::initializer_list<const char*> texts) {
  if (Observer::any()) notify(name, {inputs.begin(), inputs.end()}, attributes, value, nullptr);
  if (!grad_enabled() || std::ranges::none_of(inputs, &Operand::requires_grad)) return value;

  Node& node = Node::make(name, value, line_of(inputs.front()), inputs.size());
  Ref<AutogradMeta> meta(&node);
  Recomputation source{{}, std::move(recompute)};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].requires_grad()) node.inputs()[i].node = Ref<Node>(Node::of(inputs[i]));
    if (i < texts.size()) node.inputs()[i].text = texts.begin()[i];
    if (!reference_function) continue;
    source.inputs.push_back(save(inputs[i]));
    source.depth = std::max(source.depth, 1 + source.inputs.back().recompute_depth());
  }
  if (reference_function && !source.compute) node.result = value.detach();
  node.recomputable = source.compute && value.is_contiguous();
  node.joint =
      std::make_unique<Node::Joint>(Node::Joint{std::move(rule), std::move(reference_function),
                                                std::make_shared<const Recomputation>(std::move(source))});
  TensorImpl::of(value).autograd = std::move(meta);
  if (Observer::any()) notify(name, {inputs.begin(), inputs.end()}, attributes, value, &node);
  return value;
}

// What a rule reads as `y`: the values of the result, and its node where the rule may be differentiated.
Tensor Node::result_with_graph() {
  const Storage& storage = *TensorImpl::of(result).storage;
  check_in(name, storage.version == result_version, "its result of shape ", result.shape(), ", computed ",
           at(line), " and needed for the gradient, was overwritten by ", storage.writer, " ",
           at(storage.writer_line), "; write into a clone, or after backward()");
  if (!grad_enabled()) return result;
  Tensor y = result.detach();
  TensorImpl::of(y).autograd = Ref<AutogradMeta>(this);
  return y;
}

void Node::release_saved() {
  if (is_leaf() || released) return;
  for (int32_t i = 0; i < input_count; ++i)
    if (Input& input = inputs()[i]; input.rule) input.table->destroy(std::exchange(input.rule, nullptr));
  joint.reset();
  result = Tensor();
  hooks.reset();  // a hook that holds a later result would keep this node alive
  released = true;
}

}  // namespace heed
