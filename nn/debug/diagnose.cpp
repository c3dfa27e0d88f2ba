#include "nn/debug/diagnose.h"

#include <map>
#include <set>

#include "autograd/node.h"
#include "nn/optim/optimizer.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/reduce.h"
#include "tensor/random.h"
#include "tensor/table.h"

namespace heed {
namespace {

using detail::text;

constexpr double kLargeInput = 50;  // root mean square of what a product is given
constexpr double kDead = 0.99;      // share of a ReLU's results that are 0
constexpr double kSaturated = 0.9;  // share of the results of tanh or sigmoid that are at an end
constexpr double kFarApart = 1e6;   // the largest gradient beside the smallest
constexpr double kNoEffect = 1e-7;  // what two steps change, beside what there was: rounding
constexpr int64_t kFew = 8;         // numbers of which no share is taken

// Root of the mean square.
double size_of(const Tensor& x) {
  double sum = 0;
  x.for_each([&](auto v) { sum += static_cast<double>(v) * static_cast<double>(v); });
  return std::sqrt(sum / static_cast<double>(std::max<int64_t>(x.numel(), 1)));
}

double share_of(const Tensor& x, const auto& condition) {
  if (x.numel() < kFew) return 0;
  int64_t count = 0;
  x.for_each([&](auto v) { count += condition(static_cast<double>(v)); });
  return static_cast<double>(count) / static_cast<double>(x.numel());
}

bool all_of(const Tensor& x, const auto& condition) {
  bool all = true;
  x.for_each([&](auto v) { all = all && condition(static_cast<double>(v)); });
  return all;
}

// Whether the numbers are at least 0 and add up to 1 along some dimension, as those of a softmax do.
bool adds_up_to_one(const Tensor& x) {
  if (x.numel() == 0 || !all_of(x, [](double v) { return v >= 0; })) return false;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (x.size(d) > 1 && all_of(kernel::sum(x, {d}, false), [](double v) { return std::abs(v - 1) < 1e-4; }))
      return true;
  return false;
}

bool rows_alike(const Tensor& matrix) {
  const auto values = matrix.to_vector<double>();
  const auto width = static_cast<size_t>(matrix.size(1));
  for (size_t i = width; i < values.size(); ++i)
    if (std::abs(values[i] - values[i - width]) > 1e-6 * std::abs(values[i])) return false;
  return true;
}

// How often all parameters together were moved.
double steps_of(const Optimizer& optimizer) {
  double steps = 0;
  for (const auto& [name, value] : optimizer.state_dict())
    if (name.ends_with(".step")) steps += value.item();
  return steps;
}

// What one step did.
struct Step {
  std::map<const Node*, Tensor> gradients;  // of leaves, as the rules gave them
  std::vector<Tensor> losses;               // what its passes began with, where that is one number
  int64_t passes = 0;

  // Undefined where there was none.
  Tensor gradient(const Tensor& p) const {
    const auto found = gradients.find(Node::of(p));
    return found == gradients.end() ? Tensor() : found->second;
  }
};

// Sees the steps, and judges them.
class Examination : private Observer {
 public:
  Examination(const Module& model, const Optimizer& optimizer)
      : model_(model),
        optimizer_(optimizer),
        moves_before_(steps_of(optimizer)),
        named_(model.named_parameters()) {
    std::erase_if(named_, [](const NamedTensor& one) { return !one.tensor.requires_grad(); });
    for (const NamedTensor& one : named_) before_.push_back(kernel::clone(one.tensor));
    for (size_t group = 0; group < optimizer.groups(); ++group)
      std::ranges::copy(optimizer.params(group), std::back_inserter(held_));
  }

  void begin_step() {
    scalars_.clear();
    steps_.emplace_back();
  }
  bool went_back() const { return steps_.back().passes > 0; }

  // When all steps are done.
  ModuleReport report() {
    look_for_numbers();
    if (look_at_reach()) {
      look_at_flow();
      look_at_moves();
    }
    if (const std::string apart = detail::optimizer_mismatch(model_, optimizer_); !apart.empty())
      say("optimizer", apart, "make the optimiser when the model is as it stays, from its parameters()");

    ModuleReport report{model_.type_name(), {}};
    for (const char* name :
         {"training mode", "evaluation", "inputs", "softmax", "activations", "finite", "gradients reach",
          "gradients flow", "zero_grad", "optimizer", "step", "learning rate", "symmetry"}) {
      ModuleCheck& check = report.checks.emplace_back(ModuleCheck{name});
      const auto odd = odd_.find(name);
      if (odd == odd_.end()) continue;
      check.verdict = ModuleCheck::Verdict::failed;
      std::tie(check.found, check.cause) = odd->second;
    }
    return report;
  }

 private:
  void say(const char* check, const std::string& found, const std::string& cause) {
    odd_.try_emplace(check, found, cause);
  }

  bool held(const Tensor& p) const {
    return std::ranges::any_of(held_, [&](const Tensor& other) { return other.same_as(p); });
  }

  // ---- while the steps run

  static std::string_view called(const char* name) {
    return detail::current_scope ? detail::current_scope->name : name;
  }

  void on_result(const Operation& op, const Tensor&) override {
    const char* name = op.name;
    const std::vector<Tensor>& inputs = op.inputs;
    const std::string_view operation = called(name);
    const uint64_t drawn = default_generator().position();
    const bool evaluates = !op.recording && detail::ModuleCall::any() && model_.training();
    if (evaluates && (operation == "dropout" || (evaluates_ && drawn != drawn_)))
      say("evaluation", text("dropout left on: ", operation, " draws random numbers under NoGrad"),
          "call model.eval() before an evaluation, and model.train() after it");
    evaluates_ = evaluates;
    drawn_ = drawn;

    if (operation != "linear" && operation != "matmul" && operation != "addmm") return;
    const Tensor& x = inputs.front();
    if (const double size = size_of(x); !OpScope::rule() && !x.requires_grad() && size > kLargeInput)
      say("inputs",
          text("large input: ", operation, " is given ", x.shape(), " of root mean square ",
               short_number(size)),
          "bring data to mean 0 and deviation 1; initial weights are made for that");
  }

  void on_recorded(const Operation& op, const Tensor& value, Node& node) override {
    const std::vector<Tensor>& inputs = op.inputs;
    if (OpScope::rule()) return;
    if (value.numel() == 1) scalars_[&node] = value;
    const std::string_view name = node.name, operation = called(node.name);
    const std::string where =
        text(*node.module ? " in " : "", node.module, is_user_code(node.line) ? " " + at(node.line) : "");

    const Tensor& x = inputs.front();
    for (const char* one :
         {"softmax", "masked_softmax", "log_softmax", "cross_entropy", "softmax_cross_entropy"})
      if (operation == one && adds_up_to_one(x))
        say("softmax",
            text("softmax twice: ", operation, where, " is given ", x.shape(), " that add up to 1"),
            "give it the scores as they are; it takes the softmax itself");
    if (operation == "nll_loss" && adds_up_to_one(x))
      say("softmax", text("no logarithm: nll_loss", where, " is given ", x.shape(), " that add up to 1"),
          "it is for log-probabilities: take log_softmax, or cross_entropy of the scores");
    if (operation == "nll_loss" && !all_of(x, [](double v) { return !(v > 1e-4); }))
      say("softmax",
          text("no logarithm: nll_loss", where, " is given ", x.shape(), " of which some are above 0"),
          "it is for log-probabilities: take log_softmax, or cross_entropy of the scores");
    if (operation == "cross_entropy" && x.requires_grad())
      for (const std::string_view squashed : {"sigmoid", "relu"})
        if (squashed == Node::of(x)->name)
          say("softmax", text("scores cut: cross_entropy", where, " is given what a ", squashed, " gave"),
              "give it the scores as they are, of either sign and any size; it takes the softmax itself");
    if (operation == "binary_cross_entropy_with_logits" && x.requires_grad() &&
        std::string_view(Node::of(x)->name) == "sigmoid")
      say("softmax", text("sigmoid twice: ", operation, where, " is given what a sigmoid gave"),
          "give it the scores as they are, or take binary_cross_entropy");

    const auto look = [&](const char* what, double limit, const char* cause, const auto& condition) {
      if (const double share = share_of(value, condition); share >= limit)
        say("activations",
            text(what, ": ", decimals(100 * share, 0), " % of what ", name, where, " gives, ", value.shape()),
            cause);
    };
    const char* const ends = "hardly a gradient passes: weights or inputs are too large";
    if (name == "relu")
      look("dead layer, all 0", kDead,
           "no gradient passes: a bias far below 0, a learning rate that was too large, or inputs far from 0",
           [](double y) { return y == 0; });
    else if (name == "tanh")
      look("saturated, -1 or 1", kSaturated, ends, [](double y) { return std::abs(y) > 0.999; });
    else if (name == "sigmoid")
      look("saturated, 0 or 1", kSaturated, ends, [](double y) { return std::abs(y - 0.5) > 0.499; });
  }

  void on_backward(Node& node, const Tensor&) override {
    if (!passes_.insert(node.pass_id).second) return;
    Step& step = steps_.back();
    if (const auto loss = scalars_.find(&node); loss != scalars_.end()) step.losses.push_back(loss->second);
    if (!model_.training())
      say("training mode", "eval() while it learns: backward() runs and the model is not in training",
          "dropout does nothing: call model.train() when an evaluation is over");
    if (++step.passes > 1 || steps_.size() == 1) return;
    for (const auto& [name, p] : named_)
      if (const Tensor g = p.grad(); g.defined() && size_of(g) > 0 && held(p))
        say("zero_grad",
            text("gradients never dropped: that of ", name,
                 " is from the step before when backward() begins"),
            "call optimizer.zero_grad() in each step before backward()");
  }

  void on_gradient(Node& input, const Tensor& g, bool) override {
    if (!input.is_leaf()) return;
    Tensor& sum = steps_.back().gradients[&input];
    sum = sum.defined() ? kernel::add(sum, g) : kernel::clone(g);
  }

  // ---- afterwards

  void look_for_numbers() {
    const auto look = [&](const std::string& what, double value) {
      if (!std::isfinite(value))
        say("finite", text("not finite: ", what, " is ", value),
            "an AnomalyGuard around the step names the operation");
    };
    for (const Step& step : steps_) {
      for (const Tensor& loss : step.losses) look("the loss", loss.item());
      for (const auto& [name, p] : named_)
        if (const Tensor g = step.gradient(p); g.defined()) look("the gradient of " + name, size_of(g));
    }
  }

  // Whether any parameter has a gradient other than 0.
  bool look_at_reach() {
    const Step& step = steps_.back();
    if (step.passes == 0) {
      say("gradients reach", "no gradient: no backward() ran, and no loss came that depends on a parameter",
          "call loss.backward(); nothing on the way to the loss may be under NoGrad or detached");
      return false;
    }
    std::string without;
    bool any = false;
    for (const auto& [name, p] : named_) {
      const Tensor g = step.gradient(p);
      any |= g.defined() && size_of(g) > 0;
      if (!g.defined()) without += text(without.empty() ? "" : ", ", name, " ", p.shape());
    }
    if (named_.empty())
      say("gradients reach", "nothing learns: no parameter of the model requires a gradient",
          "model.requires_grad_(true), or lines are missing in visit");
    if (!without.empty())
      say("gradients reach", "no gradient: " + without,
          "forward does not use it, or a detach(), a NoGrad or a copy is on the way to the loss");
    for (const Tensor& loss : step.losses)
      if (const std::string leaves = detail::unregistered_leaves(loss, model_); !leaves.empty())
        say("gradients reach", "not named: " + leaves,
            "a line is missing in visit, or a layer is made inside forward, anew at each call");
    return any;
  }

  void look_at_flow() {
    std::string zero, least, most;
    double smallest = INFINITY, largest = 0;
    for (const auto& [name, p] : named_) {
      const Tensor g = steps_.back().gradient(p);
      if (!g.defined() || (p.dim() == 1 && p.numel() > 1)) continue;  // a bias of keys has none by nature
      const double size = size_of(g);
      if (size == 0) zero += text(zero.empty() ? "" : ", ", name, " ", p.shape());
      if (size > 0 && size < smallest) smallest = size, least = name;
      if (size > largest) largest = size, most = name;
    }
    if (!zero.empty())
      say("gradients flow", "gradient 0: " + zero,
          "a dead activation stands behind it, weights are all 0, or a mask leaves nothing");
    if (largest > kFarApart * smallest)
      say("gradients flow",
          text("vanishing or exploding gradients: root mean square ", short_number(smallest), " of ", least,
               ", ", short_number(largest), " of ", most),
          "many layers without a norm or a residual, or initial weights that are too small or too large");
  }

  void look_at_moves() {
    double change = 0, norm = 0;
    bool kept = false;
    for (size_t i = 0; i < named_.size(); ++i) {
      const auto& [name, p] = named_[i];
      const double by = size_of(kernel::sub(p.detach(), before_[i]));
      change += static_cast<double>(p.numel()) * by * by;
      norm += static_cast<double>(p.numel()) * std::pow(size_of(before_[i]), 2);
      kept |= p.grad().defined();
      if (by > 0 && p.dim() == 2 && p.size(0) > 1 && rows_alike(p))
        say("symmetry", text("units alike: all rows of ", name, " ", p.shape(), " are the same"),
            "they learn the same for ever; begin with random weights");
    }
    const double ratio = std::sqrt(change / norm);  // infinite where all begins at 0
    double rate = 0;
    for (size_t group = 0; group < optimizer_.groups(); ++group) rate = std::max(rate, optimizer_.lr(group));
    const std::string in_two =
        text("two steps change the parameters by ", short_number(ratio), " of their norm");
    if (rate == 0)
      say("step", "learning rate 0: nothing moves", "choose one, or look at what the schedule begins with");
    else if (steps_of(optimizer_) == moves_before_)
      say("step", "no step: the parameters stay as they are",
          std::ranges::none_of(named_, [&](const NamedTensor& one) { return held(one.tensor); })
              ? text(optimizer_.name(), " holds none of them")
          : kept ? "call optimizer.step() after backward()"
                 : "call optimizer.step() after backward() and before zero_grad()");
    else if (ratio < kNoEffect)
      say("step", "learning rate without effect: " + in_two, text("a rate of ", rate, " is too small here"));

    const auto &first = steps_.front().losses, &last = steps_.back().losses;
    if (first.empty() || last.empty()) return;
    const auto from = first.back().item(), to = last.back().item();
    if ((to > from && ratio > 3) || (to > 2 * std::abs(from) && ratio > 0.1))
      say("learning rate",
          text("learning rate too large: the loss goes from ", short_number(from), " to ", short_number(to),
               ", ", in_two),
          text("try a tenth of ", rate));
  }

  const Module& model_;
  const Optimizer& optimizer_;
  const double moves_before_;
  std::vector<NamedTensor> named_;                                  // the parameters that learn
  std::vector<Tensor> before_;                                      // their values before the steps
  std::vector<Tensor> held_;                                        // what the optimiser moves
  std::map<std::string, std::pair<std::string, std::string>> odd_;  // by check: what was found, and the cause

  std::vector<Step> steps_;
  std::map<const Node*, Tensor> scalars_;  // of the step; held, lest another node get the address of one
  std::set<uint64_t> passes_;
  bool evaluates_ = false;  // what was computed last was inside a module in training, and not recorded
  uint64_t drawn_ = 0;      // random numbers until then
};

}  // namespace

ModuleReport detail::diagnose(const Module& model, Optimizer& optimizer, const std::function<Tensor()>& step,
                              SourceLocation line) {
  Examination examination(model, optimizer);
  for (int i = 0; i < 2; ++i) {
    examination.begin_step();
    const Tensor loss = step();
    if (examination.went_back() || !loss.defined() || !loss.requires_grad()) continue;
    optimizer.zero_grad();
    loss.backward(line);
    optimizer.step(line);
  }
  return examination.report();
}

}  // namespace heed
