#include "autograd/node.h"

#include <cstdlib>
#include <cstring>

#include "autograd/engine.h"
#include "autograd/ops/shape.h"

namespace heed {
namespace {

constexpr size_t kRuleAlignment = alignof(std::max_align_t);

size_t rule_space(size_t size) { return (size + kRuleAlignment - 1) / kRuleAlignment * kRuleAlignment; }
// Where the rules begin in the block of a node.
size_t rules_at(size_t inputs) { return rule_space(sizeof(Node) + inputs * sizeof(Node::Input)); }

std::atomic<bool> reference = [] {
  const char* value = std::getenv("HEED_REFERENCE");
  return value && *value && std::strcmp(value, "0") != 0;
}();

struct RecomputeMeta : AutogradMeta {
  explicit RecomputeMeta(std::shared_ptr<const Node::Source> source) : source(std::move(source)) {}
  const std::shared_ptr<const Node::Source> source;
};

SourceLocation line_of(const Operand& input) {
  const OpScope* outermost = detail::calling;
  return outermost && outermost->role == OpScope::Role::operation ? outermost->line : input.line();
}

}  // namespace

void Saved::overwritten() const {
  const OpScope* rule = OpScope::rule();
  const OpScope scope(rule ? rule->name : "a gradient rule", rule ? rule->line : SourceLocation(),
                      OpScope::Role::rule);
  const Storage& storage = *TensorImpl::of(tensor_).storage;
  fail(scope.name, ": a tensor of shape ", tensor_.shape(), ", saved ", at(scope.line),
       " for the gradient, was overwritten by ", storage.writer, " ", at(storage.writer_line),
       "; write into a clone, or after backward()");
}

Tensor Saved::without_values(const Tensor& x) {
  const TensorImpl& body = TensorImpl::of(x);
  const Node& node = *Node::of(x);
  if (!node.joint || body.companion || body.storage->version != node.result_version ||
      node.joint->source->depth >= Node::Source::kMaxRecomputeDepth)
    return Tensor();
  Tensor y = x.detach();
  TensorImpl& hollow = TensorImpl::of(y);
  hollow.storage = {};
  hollow.history = body.history;
  hollow.companion = std::make_unique<RecomputeMeta>(node.joint->source);
  return y;
}

int64_t Saved::depth() const {
  if (!tensor_.defined() || TensorImpl::of(tensor_).storage.get()) return 0;
  return static_cast<const RecomputeMeta&>(*TensorImpl::of(tensor_).companion).source->depth;
}

void Saved::recompute() const {
  TensorImpl& body = TensorImpl::of(tensor_);
  const std::shared_ptr<const Node::Source> kept = static_cast<const RecomputeMeta&>(*body.companion).source;
  const Node::Source& source = *kept;
  const OpScope scope(source.name, source.line, OpScope::Role::rule);
  const NoGrad no_records;
  std::vector<Tensor> inputs;
  for (const Saved& input : source.inputs) inputs.push_back(input());
  body.storage = TensorImpl::of(source.again(inputs)).storage;
  version_ = body.storage->version;
  body.companion.reset();
}

bool reference_mode() { return reference.load(std::memory_order_relaxed); }
void set_reference_mode(bool on) { reference.store(on, std::memory_order_relaxed); }

GradientSlot::GradientSlot(const Tensor& x)
    : graph_alias(x.detach()),
      created_after_save(TensorImpl::of(x).saved && TensorImpl::of(x).references.value() > 1),
      node_(Node::of(x)) {
  TensorImpl::of(graph_alias).history = TensorImpl::of(x).history;
  const auto lock = Node::lock_slots();
  node_->kept = this;
}

GradientSlot::~GradientSlot() {
  const auto lock = Node::lock_slots();
  node_->kept = nullptr;
}

std::unique_lock<std::mutex> Node::lock_slots() {
  static constinit std::mutex mutex;
  return std::unique_lock(mutex);
}

void Node::check_gradient(const Tensor& g) const {
  if (!g.requires_grad()) return;
  const auto lock = lock_slots();
  check(!kept || !kept->created_after_save, name, ": the gradient of a tensor of shape ", shape,
        " has a history and could never be freed, because an operation had saved the tensor before ",
        is_leaf() ? "requires_grad_()" : "retain_grad()",
        " was called; call it before the tensor is used, or use grad(outputs, {tensor}, "
        "true) instead");
}

Node::Node(const char* name, const Tensor& value, SourceLocation line, int32_t inputs, size_t bytes)
    : name(name),
      module(detail::module_path),
      line(line),
      shape(value.shape()),
      dtype(value.dtype()),
      input_count(inputs),
      bytes(static_cast<uint32_t>(bytes)) {}

// In one block: the node, its inputs, the rules, the name.
Node& Node::make(const char* name, const Tensor& value, SourceLocation line, size_t inputs,
                 size_t rule_bytes) {
  const size_t name_bytes = std::strlen(name) + 1;
  const size_t bytes = rules_at(inputs) + rule_bytes + name_bytes;
  char* block = static_cast<char*>(allocate(bytes));
  char* own_name = static_cast<char*>(std::memcpy(block + bytes - name_bytes, name, name_bytes));
  Node* node = new (block) Node(own_name, value, line, static_cast<int32_t>(inputs), bytes);
  for (size_t i = 0; i < inputs; ++i) new (node->inputs() + i) Input;
  return *node;
}

void Node::make_leaf(const Tensor& x) {
  TensorImpl::of(x).history = Ref<GraphNode>(&make("leaf", x, {}, 0, 0));
}

Watcher::~Watcher() {
  Watcher** link = &first_;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

// Of an operation, and of its node where it has one.
[[gnu::cold, gnu::noinline]] static void tell(const char* name, Node* node, const Tensor& value,
                                              const auto& operands) {
  std::vector<Tensor> inputs;
  for (const auto& operand : operands) {
    if constexpr (requires { operand.input; })
      inputs.push_back(operand.input);
    else
      inputs.push_back(operand);
  }
  Watcher::each([&](Watcher& watcher) {
    if (node)
      watcher.recorded(*node, value, inputs);
    else
      watcher.computed(name, value, inputs);
  });
}

Tensor record(const char* name, Tensor value, std::initializer_list<Edge> edges) {
  if (Watcher::any()) [[unlikely]]
    tell(name, nullptr, value, edges);
  if (!grad_enabled()) return value;
  size_t rule_bytes = 0;
  for (const Edge& edge : edges)
    if (edge.input.requires_grad()) rule_bytes += rule_space(edge.table->size);
  if (rule_bytes == 0) return value;

  Node& node = Node::make(name, value, line_of(edges.begin()->input), edges.size(), rule_bytes);
  Ref<GraphNode> history(&node);  // of the value once its operands are taken, for it may be one of them
  Node::Input* next = node.inputs();
  char* space = reinterpret_cast<char*>(&node) + rules_at(edges.size());
  for (const Edge& edge : edges) {
    Node::Input& input = *next++;
    if (!edge.input.requires_grad()) continue;
    input.node = Ref<Node>(Node::of(edge.input));
    input.table = edge.table;
    edge.table->move(space, edge.rule);
    input.rule = space;  // there is one now, for forget() to destroy
    space += rule_space(edge.table->size);
    if (edge.table->reads_result && !node.result.defined()) node.keep_result(value);
  }
  TensorImpl::of(value).history = std::move(history);
  if (Watcher::any()) [[unlikely]]
    tell(name, &node, value, edges);
  return value;
}

Tensor record(const char* name, Tensor value, const std::vector<Operand>& inputs, JointRule rule,
              ReferenceFunction twin, ReferenceFunction again) {
  if (Watcher::any()) [[unlikely]]
    tell(name, nullptr, value, inputs);
  if (!grad_enabled() || std::ranges::none_of(inputs, &Operand::requires_grad)) return value;

  Node& node = Node::make(name, value, line_of(inputs.front()), inputs.size(), 0);
  Ref<GraphNode> history(&node);
  Node::Source source{name, node.line, {}, std::move(again)};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].requires_grad()) node.inputs()[i].node = Ref<Node>(Node::of(inputs[i]));
    if (!twin) continue;
    source.inputs.push_back(save(inputs[i]));
    source.depth = std::max(source.depth, 1 + source.inputs.back().depth());
  }
  if (twin && !source.again) node.keep_result(value);
  TensorImpl& body = TensorImpl::of(value);
  body.cheap = source.again && body.contiguous;
  node.result_version = body.storage->version;
  node.joint = std::make_unique<Node::Joint>(
      Node::Joint{std::move(rule), std::move(twin), std::make_shared<const Node::Source>(std::move(source))});
  body.history = std::move(history);
  if (Watcher::any()) [[unlikely]]
    tell(name, &node, value, inputs);
  return value;
}

void Node::keep_result(const Tensor& value) {
  result = value.detach();
  result_version = TensorImpl::of(value).storage->version;
}

// The values of the result, as a tensor of this node: what a rule reads as `y` and may differentiate through.
Tensor Node::result_with_history() {
  const Storage& storage = *TensorImpl::of(result).storage;
  check(storage.version == result_version, name, ": its result of shape ", result.shape(), ", computed ",
        at(line), " and needed for the gradient, was overwritten by ", storage.writer ? storage.writer : "?",
        " ", at(storage.writer_line), "; write into a clone, or after backward()");
  if (!grad_enabled()) return result;
  Tensor y = result.detach();
  TensorImpl::of(y).history = Ref<GraphNode>(this);
  return y;
}

Gradients Node::joint_gradients(const Tensor& g) {
  if (!joint->twin) return joint->rule(g, Tensor());
  if (!grad_enabled()) return joint->rule(g, result.defined() ? result_with_history() : Tensor());
  std::vector<Tensor> views;
  for (int32_t i = 0; i < input_count; ++i) {
    const Tensor& x = joint->source->inputs[static_cast<size_t>(i)]();
    views.push_back(inputs()[i].node ? alias(x) : x.defined() ? x.detach() : x);
  }
  const OpScope scope(name, line);
  return detail::grad_up_to(joint->twin(views), views, g);
}

void Node::forget() {
  if (is_leaf() || forgotten) return;
  for (int32_t i = 0; i < input_count; ++i)
    if (Input& input = inputs()[i]; input.rule) input.table->destroy(std::exchange(input.rule, nullptr));
  joint.reset();
  result = Tensor();
  hooks.reset();  // one that holds a later result would keep this node alive
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
