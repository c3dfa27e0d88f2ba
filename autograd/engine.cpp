#include "autograd/engine.h"

#include <algorithm>
#include <atomic>

#include "autograd/ops.h"
#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

std::atomic<uint64_t> passes{0};

// sum <- sum + g. The first contribution is moved in; later ones are added in place when nobody else can see.
void accumulate(Tensor& sum, Tensor g) {
  if (!sum.defined())
    sum = std::move(g);
  else if (grad_enabled())
    sum = sum + g;
  else if (sum.unique() && sum.is_contiguous())
    kernel::add_into(sum, g);
  else
    sum = kernel::add(sum, g);
}

// What is handed out has memory of its own: it is not the seed, nor the gradient of another tensor.
Tensor owned(Tensor g) { return g.unique() && g.is_contiguous() ? std::move(g) : clone(g); }

Tensor run_hooks(const Node& node, Tensor g) {
  if (node.hooks)
    node.hooks->each([&](const auto& hook) {
      const Tensor replaced = hook(g);
      if (!replaced.defined()) return;
      check(replaced.shape() == g.shape() && replaced.dtype() == g.dtype(), "hook on ", node.name,
            ": the gradient is ", g.dtype(), " ", g.shape(), " and the hook returned ", replaced.dtype(), " ",
            replaced.shape());
      g = replaced;
    });
  return g;
}

// Undoes the broadcasting of the operand that `node` made.
[[gnu::noinline]] Tensor fitted(const Node& node, const Tensor& g) {
  check(g.dtype() == node.dtype &&
            broadcast_shapes(g.shape(), node.shape, "the gradient", "the input") == g.shape(),
        "the rule gave ", g.dtype(), " ", g.shape(), " for an input that is ", node.dtype, " ", node.shape);
  return sum_to(g, node.shape);
}

void gather(Node& node, Tensor g) {
  if (!node.grad.defined())
    node.grad = owned(std::move(g));
  else if (grad_enabled() || node.grad.requires_grad() || !node.grad.is_contiguous())
    node.grad = node.grad + g;
  else {
    kernel::add_into(node.grad, g);
    node.grad.body().storage->wrote("backward", {});
  }
}

// A vector that leaves its memory to the next one of its kind in this thread.
template <class T>
class Scratch : public std::vector<T> {
 public:
  Scratch() { this->swap(spare()); }
  ~Scratch() {
    this->clear();
    if (this->capacity() <= 65536) this->swap(spare());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

 private:
  static std::vector<T>& spare() {
    static thread_local std::vector<T> spare;
    return spare;
  }
};

// One walk backwards over the graph behind some outputs. Each node's gradient is complete when its turn
// comes, because every node that uses it has had its turn before: the reverse of an order in which inputs
// come first.
class Pass {
 public:
  // Without targets the gradients go to the leaves; otherwise to the targets alone, and with `up_to` the walk
  // does not go behind them.
  explicit Pass(const std::vector<Tensor>* targets = nullptr, bool up_to = false)
      : targets_(targets), up_to_(up_to) {
    if (!targets) return;
    found_.resize(targets->size());
    for (size_t i = 0; i < targets->size(); ++i) slots_.push_back({Node::of((*targets)[i]), i});
    std::sort(slots_.begin(), slots_.end());
  }
  ~Pass() {
    for (Node* node : order_) leave(*node);
    for (const Frame& frame : stack_) leave(*frame.node);
    for (Node* leaf : leaves_) leaf->pending = Tensor();
  }

  void seed(const Tensor& output, Tensor g) {
    Node& node = *Node::of(output);
    if (!node.is_leaf()) order_from(&node);
    seeds_.push_back({&node, std::move(g)});
  }

  void run(bool keep_graph) {
    for (auto& [node, g] : seeds_) deliver(*node, std::move(g));
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      Node& node = **it;
      if (!node.pending.defined()) continue;
      const Tensor g = run_hooks(node, std::exchange(node.pending, Tensor()));
      if (node.keeps_grad) gather(node, g);
      const bool found = store(node, g);
      if (found && up_to_) continue;
      node.differentiate(
          g, [&](const Node& input) { return wants(input); },
          [&](Node& input, Tensor gradient) { deliver(input, std::move(gradient)); });
      if (!keep_graph) node.forget();
    }
    // Whatever can throw has run before the first gradient is added.
    for (Node* leaf : leaves_) leaf->pending = run_hooks(*leaf, std::move(leaf->pending));
    for (Node* leaf : leaves_) gather(*leaf, std::exchange(leaf->pending, Tensor()));
    for (const auto& [node, slot] : slots_)
      if (node->is_leaf() && found_[slot].defined()) found_[slot] = run_hooks(*node, std::move(found_[slot]));
  }

  std::vector<Tensor> take() {
    for (Tensor& g : found_)
      if (g.defined() && !up_to_) g = owned(std::move(g));
    return std::move(found_);
  }

 private:
  struct Frame {
    Node* node;
    int32_t next;
  };

  // Appends the nodes behind `root` to the order, inputs first. The stack is ours: graphs are deep.
  void order_from(Node* root) {
    if (enter(*root)) stack_.push_back({root, 0});
    while (!stack_.empty()) {
      Node& node = *stack_.back().node;
      if (stack_.back().next < node.input_count && !(up_to_ && slot_of(node))) {
        Node* input = node.inputs()[stack_.back().next++].node.get();
        if (input && !input->is_leaf() && enter(*input)) stack_.push_back({input, 0});
      } else {
        node.leads = !targets_ || slot_of(node);
        for (int32_t i = 0; i < node.input_count && !node.leads; ++i)
          if (const Node* input = node.inputs()[i].node.get()) node.leads = wants(*input);
        order_.push_back(&node);
        stack_.pop_back();
      }
    }
  }

  bool enter(Node& node) const {
    if (node.run == id_) return false;
    if (node.run != 0) [[unlikely]]
      fail("backward: ", node.name, " ", at(node.line),
           " is part of a backward pass that is still running; differentiate another graph inside hooks");
    node.run = id_;
    return true;
  }
  static void leave(Node& node) {
    node.run = 0;
    node.pending = Tensor();
  }

  bool wants(const Node& node) const {
    if (!targets_) return true;
    return node.is_leaf() ? slot_of(node) != nullptr : node.leads;
  }

  void deliver(Node& node, Tensor g) {
    if (g.shape() != node.shape || g.dtype() != node.dtype) [[unlikely]]
      g = fitted(node, g);
    if (!node.is_leaf()) return accumulate(node.pending, std::move(g));
    if (targets_) return (void)store(node, g);
    if (!node.pending.defined()) leaves_.push_back(&node);
    accumulate(node.pending, std::move(g));
  }

  using Slot = std::pair<const Node*, size_t>;
  const Slot* slot_of(const Node& node) const {
    const auto it = std::lower_bound(slots_.begin(), slots_.end(), Slot{&node, 0});
    return it != slots_.end() && it->first == &node ? &*it : nullptr;
  }
  bool store(const Node& node, const Tensor& g) {
    const Slot* slot = slot_of(node);
    if (!slot) return false;
    for (; slot != slots_.data() + slots_.size() && slot->first == &node; ++slot)
      accumulate(found_[slot->second], g);
    return true;
  }

  const uint64_t id_ = ++passes;
  const std::vector<Tensor>* targets_;
  const bool up_to_;
  std::vector<Slot> slots_;  // targets by address
  std::vector<Tensor> found_;
  std::vector<std::pair<Node*, Tensor>> seeds_;
  Scratch<Node*> order_, leaves_;
  Scratch<Frame> stack_;
};

void seed_all(Pass& pass, const char* op, const std::vector<Tensor>& outputs,
              const std::vector<Tensor>& gradients) {
  check(gradients.empty() || gradients.size() == outputs.size(), op, ": ", outputs.size(), " outputs and ",
        gradients.size(), " incoming gradients; give one for each");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& y = outputs[i];
    check(y.requires_grad(), op, ": a tensor of shape ", y.shape(),
          " does not depend on anything that requires a gradient; call requires_grad_() on a leaf before "
          "computing it");
    if (!gradients.empty() && gradients[i].defined()) {
      check(gradients[i].shape() == y.shape() && gradients[i].dtype() == y.dtype(), op, ": the output is ",
            y.dtype(), " ", y.shape(), ", its incoming gradient ", gradients[i].dtype(), " ",
            gradients[i].shape(), "; they must be equal");
      pass.seed(y, gradients[i]);
    } else {
      check(y.numel() == 1, op, ": a tensor of shape ", y.shape(),
            " is not one number; sum it to a loss first, or give the incoming gradient");
      pass.seed(y, kernel::full(y.shape(), 1, y.dtype()));
    }
  }
}

std::vector<Tensor> differentiate(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                  const GradOptions& options, bool up_to) {
  for (const Tensor& x : inputs)
    check(x.requires_grad(), "grad: an input of shape ", x.shape(),
          " does not require a gradient; call requires_grad_() on it "
          "before computing the output");
  const GradMode mode(options.create_graph);
  Pass pass(&inputs, up_to);
  seed_all(pass, "grad", outputs, options.grad_outputs);
  pass.run(options.retain_graph || options.create_graph);
  std::vector<Tensor> found = pass.take();
  for (size_t i = 0; i < found.size(); ++i)
    check(options.allow_unused || found[i].defined(), "grad: input ", i, " of shape ", inputs[i].shape(),
          " was not used for the outputs; leave it out, or set allow_unused");
  return found;
}

}  // namespace

void backward(const std::vector<Tensor>& outputs, const GradOptions& options, std::source_location) {
  const GradMode mode(options.create_graph);
  Pass pass;
  seed_all(pass, "backward", outputs, options.grad_outputs);
  pass.run(options.retain_graph || options.create_graph);
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options, std::source_location) {
  return differentiate(outputs, inputs, options, false);
}

std::vector<Tensor> grad(const Tensor& output, const std::vector<Tensor>& inputs, bool create_graph,
                         std::source_location) {
  return differentiate({output}, inputs, {.create_graph = create_graph}, false);
}

std::vector<Tensor> detail::grad_up_to(const Tensor& output, const std::vector<Tensor>& inputs,
                                       const Tensor& g) {
  if (!output.requires_grad()) return std::vector<Tensor>(inputs.size());
  return differentiate({output}, inputs, {.grad_outputs = {g}, .create_graph = true, .allow_unused = true},
                       true);
}

}  // namespace heed
