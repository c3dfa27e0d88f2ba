#include "autograd/engine.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

std::atomic<uint64_t> passes{0};

// One walk backwards over the graph behind some outputs. Each node's gradient is complete when its turn
// comes, because every node that uses it has had its turn before: the reverse of an order in which inputs
// come first.
class Pass {
 public:
  // Without targets the gradients go to the leaves; otherwise to the targets alone, and with `up_to` the walk
  // does not go behind them. The line is that of the call, for messages.
  Pass(SourceLocation line, const std::vector<Tensor>* targets, bool up_to)
      : line_(line), targets_(targets), up_to_(up_to) {
    if (!targets) return;
    found_.resize(targets->size());
    for (size_t i = 0; i < targets->size(); ++i)
      if ((*targets)[i].requires_grad()) slots_.push_back({Node::of((*targets)[i]), i});
    std::sort(slots_.begin(), slots_.end());
  }
  ~Pass() {
    for (Node* node : lists_.order) leave(*node);
    for (const detail::Step& step : lists_.stack) leave(*step.node);
    for (Node* node : lists_.keepers) node->pending = Tensor();
    lists_.order.clear();
    lists_.keepers.clear();
    lists_.stack.clear();
    if (lists_.order.capacity() <= 65536) spare_ = std::move(lists_);
  }

  // The gradient of one output, 1 if undefined; the nodes behind it are put in order, inputs first.
  void seed(const Tensor& y, Tensor g) {
    check(y.requires_grad(), "a tensor of shape ", y.shape(),
          " does not depend on anything that requires a gradient; call requires_grad_() on a leaf before "
          "computing it, with no NoGrad around it and no detach() on the way");
    check(g.defined() || y.numel() == 1, "a tensor of shape ", y.shape(),
          " is not one number; sum it to a loss first, or give the incoming gradient");
    if (!g.defined()) g = kernel::full(y.shape(), 1, y.dtype());
    check(g.shape() == y.shape() && g.dtype() == y.dtype(), "the output is ", y.dtype(), " ", y.shape(),
          ", its incoming gradient ", g.dtype(), " ", g.shape(), "; they must be equal");
    Node& root = *Node::of(y);
    detail::walk(
        root, lists_.stack, [&](Node& node) { return !node.is_leaf() && enter(node); },
        [&](Node& node) { append(node); });
    gather(root, std::move(g));
  }

  // Gives the gradients of the targets, each in memory of its own.
  std::vector<Tensor> run(bool keep_graph) {
    for (auto it = lists_.order.rbegin(); it != lists_.order.rend(); ++it) {
      Node& node = **it;
      if (!node.pending.defined()) continue;
      Tensor g = run_hooks(node, std::exchange(node.pending, Tensor()));
      if (!(store(node, g) && up_to_)) {
        if (node.forgotten) used_before(node);
        if (watched_) [[unlikely]]
          tell([&](Watcher& watcher) { watcher.turn(node, g); });
        node.differentiate(
            g, [&](const Node& input) { return wants(input); },
            [&](Node& input, Tensor gradient) { deliver(input, std::move(gradient)); });
        if (!keep_graph) node.forget();
      }
      if (node.keeps_grad) keep(node, std::move(g));
    }
    finish();
    return std::move(found_);
  }

 private:
  // What a rule gave to an input.
  void deliver(Node& node, Tensor g) {
    const bool fits = g.shape() == node.shape && g.dtype() == node.dtype;
    if (!fits) [[unlikely]]
      g = fitted(node, g);
    if (watched_) [[unlikely]]
      tell([&](Watcher& watcher) { watcher.arrived(node, g, !fits); });
    gather(node, std::move(g));
  }

  // Adds to what has arrived at a node so far.
  void gather(Node& node, Tensor g) {
    if (!node.is_leaf()) return accumulate(node.pending, std::move(g));
    if (targets_) return (void)store(node, g);
    if (!node.pending.defined()) return keep(node, std::move(g));
    accumulate(node.pending, std::move(g));
  }

  // sum <- sum + g. The first contribution is moved in; later ones are added in place when nobody else can
  // see.
  static void accumulate(Tensor& sum, Tensor g) {
    if (!sum.defined())
      sum = std::move(g);
    else if (grad_enabled())
      sum = sum + g;
    else if (TensorImpl::unique(sum) && sum.is_contiguous())
      kernel::add_into(sum, g);
    else
      sum = kernel::add(sum, g);
  }

  [[gnu::cold, gnu::noinline]] static void tell(const auto& what) { Watcher::each(what); }

  // Undoes the broadcasting of the operand that `node` made.
  [[gnu::noinline]] static Tensor fitted(const Node& node, const Tensor& g) {
    check(g.dtype() == node.dtype &&
              broadcast_shapes(g.shape(), node.shape, "the gradient", "the input") == g.shape(),
          "the rule gave ", g.dtype(), " ", g.shape(), " for an input that is ", node.dtype, " ", node.shape);
    return sum_to(g, node.shape);
  }

  // The order.

  bool enter(Node& node) {
    if (node.run == id_) return false;
    if (node.run != 0) [[unlikely]]
      fail(node.name, " ", at(node.line),
           " is part of a backward pass that is still running; differentiate another graph inside hooks");
    const bool further = !up_to_ || !slot_of(node);
    if (!further) append(node);
    node.run = id_;
    return further;
  }
  void append(Node& node) {
    node.leads = !targets_ || slot_of(node);
    for (int32_t i = 0; i < node.input_count && !node.leads; ++i)
      if (const Node* input = node.inputs()[i].node.get()) node.leads = wants(*input);
    lists_.order.push_back(&node);
  }
  static void leave(Node& node) {
    node.run = 0;
    node.pending = Tensor();
  }

  [[noreturn]] void used_before(const Node& node) const {
    const OpScope scope("backward", line_);
    fail("the graph of ", node.name,
         " was used before and freed; give retain_graph = true the first time, or compute the result anew");
  }

  // Targets.

  using Slot = std::pair<const Node*, size_t>;
  const Slot* slot_of(const Node& node) const {
    const auto it = std::lower_bound(slots_.begin(), slots_.end(), Slot{&node, 0});
    return it != slots_.end() && it->first == &node ? &*it : nullptr;
  }
  bool wants(const Node& node) const {
    if (!targets_) return true;
    return node.is_leaf() ? slot_of(node) != nullptr : node.leads;
  }
  bool store(const Node& node, const Tensor& g) {
    const Slot* slot = slot_of(node);
    if (!slot) return false;
    for (; slot != slots_.data() + slots_.size() && slot->first == &node; ++slot)
      accumulate(found_[slot->second], g);
    return true;
  }

  // Hooks, and the gradients that tensors keep.

  static Tensor run_hooks(const Node& node, Tensor g) {
    if (node.hooks)
      node.hooks->each([&](const auto& hook) {
        const Tensor replaced = hook(g);
        if (!replaced.defined()) return;
        check(replaced.shape() == g.shape() && replaced.dtype() == g.dtype(), "hook on ", node.name,
              ": the gradient is ", g.dtype(), " ", g.shape(), " and the hook returned ", replaced.dtype(),
              " ", replaced.shape());
        g = replaced;
      });
    return g;
  }

  // A gradient that is handed out has memory of its own: it is not the seed, nor the gradient of another
  // tensor.
  static Tensor owned(Tensor g) {
    return TensorImpl::unique(g) && g.is_contiguous() ? std::move(g) : clone(g);
  }

  void keep(Node& node, Tensor g) {
    lists_.keepers.push_back(&node);
    node.pending = std::move(g);
  }
  // Whatever can throw has run before the first gradient is added.
  void finish() {
    for (const auto& [node, slot] : slots_)
      if (node->is_leaf() && found_[slot].defined()) found_[slot] = run_hooks(*node, std::move(found_[slot]));
    for (Tensor& g : found_)
      if (g.defined() && !up_to_) g = owned(std::move(g));
    const std::vector<Node*>& keepers = lists_.keepers;
    for (Node* node : keepers)
      if (node->is_leaf()) node->pending = run_hooks(*node, std::move(node->pending));
    std::vector<Tensor> sums(keepers.size());
    {
      const auto lock = Node::lock_slots();
      for (size_t i = 0; i < sums.size(); ++i) sums[i] = keepers[i]->gradient();
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      Tensor& g = keepers[i]->pending;
      if (!sums[i].defined())
        sums[i] = owned(std::move(g));
      else if (grad_enabled() || sums[i].requires_grad() || !sums[i].is_contiguous())
        sums[i] = sums[i] + std::exchange(g, Tensor());
      keepers[i]->check_gradient(sums[i]);
    }
    for (size_t i = 0; i < sums.size(); ++i)
      if (const Tensor g = std::exchange(keepers[i]->pending, Tensor()); g.defined()) {
        kernel::add_into(sums[i], g);
        TensorImpl::of(sums[i]).storage->wrote("backward", line_);
      }
    const auto lock = Node::lock_slots();
    for (size_t i = 0; i < sums.size(); ++i) keepers[i]->swap_gradient(sums[i]);
  }

  // Lists that leave their memory to the next pass of this thread.
  struct Lists {
    std::vector<Node*> order, keepers;
    std::vector<detail::Step> stack;
  };
  static inline thread_local Lists spare_;

  const uint64_t id_ = ++passes;
  const bool watched_ = Watcher::any();
  const SourceLocation line_;
  const std::vector<Tensor>* targets_;
  const bool up_to_;
  std::vector<Slot> slots_;  // targets by address
  std::vector<Tensor> found_;
  Lists lists_ = std::move(spare_);
};

// To the leaves, or to the inputs when there are some. The scopes of OpScope end before the pass runs: hooks
// are the user's, and name their own operations.
std::vector<Tensor> differentiate(const char* name, const std::vector<Tensor>& outputs,
                                  const std::vector<Tensor>* inputs, const GradOptions& options,
                                  SourceLocation line, bool up_to = false) {
  const GradMode mode(options.create_graph);
  Pass pass(line, inputs, up_to);
  {
    const OpScope scope(name, line);
    if (inputs && !up_to)
      for (const Tensor& x : *inputs)
        check(x.requires_grad(), "an input of shape ", x.shape(),
              " does not require a gradient; call requires_grad_() on it before computing the output");
    const std::vector<Tensor>& gradients = options.grad_outputs;
    check(gradients.empty() || gradients.size() == outputs.size(), outputs.size(), " outputs and ",
          gradients.size(), " incoming gradients; give one for each");
    for (size_t i = 0; i < outputs.size(); ++i)
      pass.seed(outputs[i], gradients.empty() ? Tensor() : gradients[i]);
  }
  std::vector<Tensor> found = pass.run(options.retain_graph || options.create_graph);
  const OpScope scope(name, line);
  for (size_t i = 0; i < found.size() && !options.allow_unused; ++i)
    check(found[i].defined(), "input ", i, " of shape ", (*inputs)[i].shape(),
          " was not used for the outputs; leave it out, or set allow_unused");
  return found;
}

}  // namespace

void backward(const std::vector<Tensor>& outputs, const GradOptions& options, SourceLocation line) {
  differentiate("backward", outputs, nullptr, options, line);
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options, SourceLocation line) {
  return differentiate("grad", outputs, &inputs, options, line);
}

std::vector<Tensor> detail::grad_up_to(const Tensor& output, const std::vector<Tensor>& inputs,
                                       const Tensor& g) {
  if (!output.requires_grad()) return std::vector<Tensor>(inputs.size());
  return differentiate("grad", {output}, &inputs,
                       {.grad_outputs = {g}, .create_graph = true, .allow_unused = true}, {}, true);
}

}  // namespace heed
