#include "autograd/node.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "autograd/engine.h"
#include "autograd/ops.h"

namespace heed {
namespace {

constexpr size_t kRuleAlignment = alignof(std::max_align_t);

size_t rule_space(size_t size) { return (size + kRuleAlignment - 1) / kRuleAlignment * kRuleAlignment; }

std::atomic<bool> reference = [] {
  const char* value = std::getenv("HEED_REFERENCE");
  return value && *value && std::strcmp(value, "0") != 0;
}();

std::source_location line_of(const Operand& input) {
  const Calling* outermost = detail::calling;
  return outermost && outermost->role == Calling::Role::operation ? outermost->line : input.line();
}

}  // namespace

void Saved::overwritten() const {
  const Calling* rule = Calling::rule();
  const Calling here(rule ? rule->name : "a gradient rule", rule ? rule->line : std::source_location(),
                     Calling::Role::rule);
  const Storage& storage = *tensor_.body().storage;
  fail(here.name, ": a tensor of shape ", tensor_.shape(), ", saved ", at(here.line),
       " for the gradient, was overwritten by ", storage.writer, " ", at(storage.writer_line),
       "; write into a clone, or after backward()");
}

bool reference_mode() { return reference.load(std::memory_order_relaxed); }
void set_reference_mode(bool on) { reference.store(on, std::memory_order_relaxed); }

Node::Node(const char* name, const Tensor& value, std::source_location line, int32_t inputs, size_t bytes)
    : name(name),
      module(detail::module_path),
      line(line),
      shape(value.shape()),
      dtype(value.dtype()),
      input_count(inputs),
      bytes(static_cast<uint32_t>(bytes)) {}

Node* Node::make(const char* name, const Tensor& value, std::source_location line, size_t inputs,
                 size_t rule_bytes) {
  const size_t bytes = rule_space(sizeof(Node) + inputs * sizeof(Input)) + rule_bytes;
  Node* node = new (allocate(bytes)) Node(name, value, line, static_cast<int32_t>(inputs), bytes);
  for (size_t i = 0; i < inputs; ++i) new (node->inputs() + i) Input;
  return node;
}

Ref<Node> Node::leaf(const Tensor& x) { return Ref<Node>(make("leaf", x, {}, 0, 0)); }

Tensor record(const char* name, Tensor value, std::span<const Edge> edges) {
  if (!grad_enabled()) return value;
  size_t rule_bytes = 0;
  bool any = false;
  for (const Edge& edge : edges)
    if (edge.input.requires_grad()) {
      any = true;
      rule_bytes += rule_space(edge.table->size);
    }
  if (!any) return value;

  Node* node = Node::make(name, value, line_of(edges.front().input), edges.size(), rule_bytes);
  char* space = reinterpret_cast<char*>(node) + (node->bytes - rule_bytes);
  Node::Input* input = node->inputs();
  for (const Edge& edge : edges) {
    if (edge.input.requires_grad()) {
      input->node = Ref<Node>(Node::of(edge.input));
      input->table = edge.table;
      input->rule = space;
      edge.table->move(space, edge.rule);
      space += rule_space(edge.table->size);
      if (edge.table->reads_result && !node->result.defined()) {
        node->result = value.detach();
        node->result_version = value.body().storage->version;
      }
    }
    ++input;
  }
  value.body().history = Ref<History>(node);
  return value;
}

Tensor record(const char* name, Tensor value, const std::vector<Operand>& inputs, JointRule rule, Twin twin) {
  if (!grad_enabled()) return value;
  bool any = false;
  for (const Operand& input : inputs) any |= input.requires_grad();
  if (!any) return value;

  Node* node = Node::make(name, value, line_of(inputs.front()), inputs.size(), 0);
  node->joint = std::make_unique<Node::Joint>();
  node->joint->rule = std::move(rule);
  node->joint->twin = std::move(twin);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].requires_grad()) node->inputs()[i].node = Ref<Node>(Node::of(inputs[i]));
    if (node->joint->twin) node->joint->inputs.push_back(save(inputs[i]));
  }
  if (node->joint->twin) {
    node->result = value.detach();
    node->result_version = value.body().storage->version;
  }
  value.body().history = Ref<History>(node);
  return value;
}

// The values of the result, as a tensor of this node: what a rule reads as `y` and may differentiate through.
Tensor Node::result_with_history() {
  const Storage& storage = *result.body().storage;
  check(storage.version == result_version, name, ": its result of shape ", result.shape(), ", computed ",
        at(line), " and needed for the gradient, was overwritten by ", storage.writer ? storage.writer : "?",
        " ", at(storage.writer_line), "; write into a clone, or after backward()");
  if (!grad_enabled()) return result;
  Tensor y = result.detach();
  y.body().history = Ref<History>(this);
  return y;
}

Gradients Node::joint_gradients(const Tensor& g) {
  if (!joint->twin) return joint->rule(g, Tensor());
  if (!grad_enabled()) return joint->rule(g, result_with_history());
  std::vector<Tensor> views, wanted;
  for (int32_t i = 0; i < input_count; ++i) {
    const Tensor& x = joint->inputs[static_cast<size_t>(i)]();
    views.push_back(inputs()[i].node ? alias(x) : x);
    if (inputs()[i].node) wanted.push_back(views.back());
  }
  const Calling here(name, line);
  const Tensor y = joint->twin(views);
  const Gradients found = detail::grad_up_to(y, wanted, g);
  Gradients all(static_cast<size_t>(input_count));
  for (size_t i = 0, next = 0; i < all.size(); ++i)
    if (inputs()[i].node) all[i] = found[next++];
  return all;
}

void Node::forget() {
  if (is_leaf() || forgotten) return;
  for (int32_t i = 0; i < input_count; ++i)
    if (Input& input = inputs()[i]; input.rule) {
      input.table->destroy(input.rule);
      input.rule = nullptr;
    }
  joint.reset();
  result = Tensor();
  forgotten = true;
}

void Node::destroy() noexcept {
  forget();
  for (int32_t i = 0; i < input_count; ++i) inputs()[i].~Input();
  const size_t size = bytes;
  this->~Node();
  heed::release(this, size);
}

// Freeing a node lets go of its inputs, which may free theirs, and so on down a chain of a million: the nodes
// wait in a list and one loop frees them, instead of one call inside the other.
void Node::release() noexcept {
  static thread_local constinit Node* waiting = nullptr;
  static thread_local constinit bool freeing = false;
  next_ = waiting;
  waiting = this;
  if (freeing) return;
  freeing = true;
  while (Node* node = waiting) {
    waiting = node->next_;
    node->destroy();
  }
  freeing = false;
}

}  // namespace heed
