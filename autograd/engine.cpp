#include "autograd/engine.h"

#include "autograd/gradient_commit.h"
#include "autograd/graph_walk.h"
#include "autograd/leaf_observation.h"
#include "autograd/ops/reduce.h"
#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

std::atomic<uint64_t> last_pass_id{0};

// One backward pass: seed() puts the nodes behind the outputs in order, inputs before their users, and run()
// visits them in reverse. A node's gradient is complete when it is visited, since all its users came before.
class BackwardPass {
 public:
  // Without inputs, gradients accumulate in the leaves. With `stop_at_targets`, the pass ends at the inputs.
  BackwardPass(SourceLocation line, const std::vector<Tensor>* inputs, bool stop_at_targets)
      : line_(line), has_targets_(inputs), stop_at_targets_(stop_at_targets), targets_(inputs) {}

  std::vector<Tensor> run(bool keep_graph) {
    for (auto it = lists_.order.rbegin(); it != lists_.order.rend(); ++it) {
      Node& node = **it;
      if (node.incoming.defined()) process(node, keep_graph);  // else no gradient reached it
      if (observed_) leaves_.processed(node);
    }
    return finish();
  }

  void process(Node& node, bool keep_graph) {
    Tensor g = detail::apply_hooks(node, std::exchange(node.incoming, Tensor()));
    const bool is_target = has_targets_ && targets_.contains(node);
    if (is_target) targets_.add(node, g);
    if (!(is_target && stop_at_targets_)) {
      if (node.released) throw_released(node);
      if (observed_) Observer::each([&](Observer& observer) { observer.on_backward(node, g); });
      node.for_each_input_gradient(
          g, [&](const Node& input) { return wants(input); },
          [&](Node& input, Tensor dx) { receive(input, std::move(dx)); });
      if (!keep_graph) node.release_saved();
    }
    if (node.retains_grad) defer(node, std::move(g));
  }

  // Starts from one output and its gradient, 1 if undefined.
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
    add_gradient(root, std::move(g));
  }

  ~BackwardPass() {
    for (Node* node : lists_.order) reset(*node);
    for (const detail::WalkStep& step : lists_.stack) reset(*step.node);
    for (Node* node : lists_.deferred) node->incoming = Tensor();
    lists_.order.clear();
    lists_.deferred.clear();
    lists_.stack.clear();
    if (lists_.order.capacity() <= 65536) spare_ = std::move(lists_);
  }

 private:
  void receive(Node& input, Tensor g) {
    const bool summed = g.shape() != input.shape || g.dtype() != input.dtype;
    if (summed) [[unlikely]]
      g = sum_to_input(input, g);
    if (observed_) Observer::each([&](Observer& observer) { observer.on_gradient(input, g, summed); });
    add_gradient(input, std::move(g));
  }
  void add_gradient(Node& node, Tensor g) {
    if (!node.is_leaf()) return detail::accumulate(node.incoming, std::move(g));
    if (has_targets_) return targets_.add(node, g);
    if (!node.incoming.defined()) return defer(node, std::move(g));
    detail::accumulate(node.incoming, std::move(g));
  }
  // The gradient of a broadcast input is the sum over the broadcast dimensions.
  [[gnu::noinline]] static Tensor sum_to_input(const Node& input, const Tensor& g) {
    check(g.dtype() == input.dtype &&
              broadcast_shapes(g.shape(), input.shape, "the gradient", "the input") == g.shape(),
          "the rule gave ", g.dtype(), " ", g.shape(), " for an input that is ", input.dtype, " ",
          input.shape);
    return sum_to(g, input.shape);
  }
  // Adds `g` to the gradient of the node's tensor when the pass is complete.
  void defer(Node& node, Tensor g) {
    lists_.deferred.push_back(&node);
    node.incoming = std::move(g);
  }

  std::vector<Tensor> finish() {
    for (const auto& [node, slot] : targets_.slots)
      if (Tensor& g = targets_.gradients[slot]; node->is_leaf() && g.defined())
        g = detail::apply_hooks(*node, std::move(g));
    for (Tensor& g : targets_.gradients)
      if (g.defined() && !stop_at_targets_) g = detail::make_unique(std::move(g));
    detail::commit_gradients(lists_.deferred, line_);
    return std::move(targets_.gradients);
  }

  bool enter(Node& node) {
    if (node.pass_id == id_) return false;
    if (node.pass_id != 0) [[unlikely]]
      fail(node.name, " ", at(node.line),
           " is part of a backward pass that is still running; differentiate another graph inside hooks");
    const bool continues = !stop_at_targets_ || !targets_.contains(node);
    if (!continues) append(node);
    node.pass_id = id_;
    return continues;
  }
  void append(Node& node) {
    node.needs_gradient = !has_targets_ || targets_.contains(node);
    for (int32_t i = 0; i < node.input_count && !node.needs_gradient; ++i)
      if (const Node* input = node.inputs()[i].node.get()) node.needs_gradient = wants(*input);
    lists_.order.push_back(&node);
    if (observed_) leaves_.expect(node);
  }
  bool wants(const Node& node) const {
    return !has_targets_ || (node.is_leaf() ? targets_.contains(node) : node.needs_gradient);
  }
  static void reset(Node& node) {
    node.pass_id = 0;
    node.incoming = Tensor();
  }

  [[noreturn]] void throw_released(const Node& node) const {
    const OpScope scope("backward", line_);
    fail("the graph of ", node.name,
         " was used before and freed; give retain_graph = true the first time, or compute the result again");
  }

  // Buffers that the next pass of this thread reuses.
  struct Lists {
    std::vector<Node*> order, deferred;
    std::vector<detail::WalkStep> stack;
  };
  static inline thread_local Lists spare_;

  const uint64_t id_ = ++last_pass_id;
  const bool observed_ = Observer::any();
  const SourceLocation line_;
  const bool has_targets_, stop_at_targets_;
  detail::Targets targets_;
  detail::LeafObservation leaves_;
  Lists lists_ = std::move(spare_);
};

// The scope ends before the pass runs, so that an error in a hook names the operation of the hook.
std::vector<Tensor> differentiate(const char* name, const std::vector<Tensor>& outputs,
                                  const std::vector<Tensor>* inputs, const GradOptions& options,
                                  SourceLocation line, bool stop_at_targets = false) {
  const GradMode mode(options.create_graph);
  BackwardPass pass(line, inputs, stop_at_targets);
  {
    const OpScope scope(name, line);
    if (inputs && !stop_at_targets)
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
  for (size_t i = 0; inputs && i < found.size() && !options.allow_unused; ++i)
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

std::vector<Tensor> detail::grad_until(const Tensor& output, const std::vector<Tensor>& inputs,
                                       const Tensor& g) {
  if (!output.requires_grad()) return std::vector<Tensor>(inputs.size());
  return differentiate("grad", {output}, &inputs,
                       {.grad_outputs = {g}, .create_graph = true, .allow_unused = true}, {}, true);
}

}  // namespace heed
