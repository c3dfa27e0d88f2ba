#include "nn/debug/diagnose.h"

#include <numeric>
#include <set>

#include "nn/optim/optimizer.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/reduce.h"
#include "tensor/random.h"
#include "tensor/table.h"

namespace heed {
namespace {

using detail::text;
using Names = std::initializer_list<std::string_view>;

constexpr double kLargeInput = 50;  // RMS of the input of a product
constexpr double kDead = 0.99;      // share of zeros in the result of a ReLU
constexpr double kSaturated = 0.9;  // share of the results of tanh or sigmoid that are at either end
constexpr double kFarApart = 1e6;   // ratio of the largest gradient to the smallest
constexpr double kNoEffect = 1e-7;  // relative change of the parameters that is only rounding
constexpr int64_t kFew = 8;         // number of results below which a share means nothing
constexpr const char* kGuard = "put an AnomalyGuard around the step to find the operation";

bool one_of(std::string_view name, Names names) { return std::ranges::find(names, name) != names.end(); }

int64_t count(const Tensor& x, const auto& condition) {
  return std::ranges::count_if(x.to_vector<double>(), condition);
}

double inner(const Tensor& a, const Tensor& b) {
  const auto x = a.to_vector<double>(), y = b.to_vector<double>();
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

// 0 if x is undefined.
double rms(const Tensor& x) {
  return x.defined() && x.numel() > 0 ? std::sqrt(inner(x, x) / static_cast<double>(x.numel())) : 0;
}

// The dimensions along which nonnegative values sum to 1, as those of a softmax do.
Shape softmax_dims(const Tensor& x) {
  Shape dims;
  if (x.numel() == 0 || count(x, [](double v) { return !(v >= 0); }) > 0) return dims;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (x.size(d) > 1 &&
        count(kernel::sum(x, {d}, false), [](double v) { return std::abs(v - 1) >= 1e-4; }) == 0)
      dims.push_back(d);
  return dims;
}

// The value of all elements if they are equal, otherwise 0.
double common_value(const Tensor& g) {
  const auto [least, most] = std::ranges::minmax(g.to_vector<double>());
  return least == most ? least : 0;
}

bool rows_equal(const Tensor& matrix) {
  if (matrix.dim() != 2 || matrix.size(0) < 2) return false;
  const auto values = matrix.to_vector<double>();
  return std::equal(values.begin() + matrix.size(1), values.end(), values.begin(),
                    [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(a); });
}

// The number of updates, summed over the parameters.
double updates_of(const Optimizer& optimizer) {
  double updates = 0;
  for (const auto& [name, value] : optimizer.state_dict())
    if (name.ends_with(".step")) updates += value.item();
  return updates;
}

bool computed_by(const Tensor& x, Names names) {
  return x.requires_grad() && one_of(Node::of(x)->name, names);
}

// A finding, or "" if the condition does not hold.
std::string if_so(bool condition, const auto&... parts) { return condition ? text(parts...) : ""; }

// An operation that was recorded.
struct Recorded {
  std::string_view called;  // by the user: "nll_loss"
  std::string_view name;    // part of it: "gather"
  const std::vector<Tensor>& inputs;
  const Tensor& value;
  std::string where;  // " in encoder.0 at train.cpp:12"

  std::string given() const { return text(called, where, " is given ", inputs[0].shape()); }
  // "dead layer, all 0: 100 % of what relu in 1 gives, [32, 16]" if the condition holds for at least this
  // share of the results.
  std::string mostly(std::string_view activation, const char* what, double limit,
                     const auto& condition) const {
    if (name != activation || value.numel() < kFew) return "";
    const double share = static_cast<double>(count(value, condition)) / static_cast<double>(value.numel());
    return if_so(share >= limit, what, ": ", decimals(100 * share, 0), " % of what ", name, where, " gives, ",
                 value.shape());
  }
};

// What is known about the result of an operation.
struct Fact {
  Ref<Node> node = {};          // held so that no address is used again
  Tensor scalar = {};           // the result if it is one number
  bool error = false;           // a distance of prediction and target, which the steps should decrease
  bool log_likelihood = false;  // log-probabilities, which the steps should increase, with no minus sign yet
  std::string broadcast = {};   // a prediction and a target that broadcast, which the result depends on
};

// A parameter that requires a gradient. Arrays are by step.
struct Learned {
  std::string name;
  Tensor p;
  bool is_held;                             // by the optimizer
  Tensor before[2] = {}, gradient[2] = {};  // undefined without a gradient

  const Tensor& g() const { return gradient[1]; }
  Tensor change() const { return kernel::sub(p.detach(), before[0]); }
  bool is_bias() const { return p.dim() == 1 && (p.numel() > 1 || name.ends_with("bias")); }

  bool has_no_gradient() const { return !g().defined(); }
  bool has_nonzero_gradient() const { return rms(g()) > 0; }
  // The gradient of a bias may be 0 in a correct model: that of the keys of an attention is.
  bool has_zero_gradient() const { return !is_bias() && g().defined() && rms(g()) == 0; }
  bool has_infinite_gradient() const { return !std::isfinite(rms(gradient[0]) + rms(gradient[1])); }
  bool keeps_equal_rows() const { return rows_equal(p) && rms(change()) > 0; }
};

// Watches the steps and looks for the causes of faults.
struct TrainingDiagnoser : Observer {
  TrainingDiagnoser(const Module& model, Optimizer& optimizer) : model_(model), optimizer_(optimizer) {
    const std::vector<Tensor> held = optimizer.params();
    for (const auto& [name, p] : model.named_parameters())
      if (p.requires_grad()) learned_.push_back({name, p, detail::is_among(held, p)});
  }

  // Runs the step twice and judges what it showed.
  ModuleReport run(const std::function<Tensor()>& step, SourceLocation line) {
    for (step_ = 0; step_ < 2; ++step_) {
      pass_ids_.clear();
      facts_.clear();
      for (Learned& one : learned_) one.before[step_] = kernel::clone(one.p);
      const Tensor loss = step();
      if (!pass_ids_.empty() || !loss.defined() || !loss.requires_grad()) continue;
      optimizer_.zero_grad();
      loss.backward(line);
      optimizer_.step(line);
    }
    judge_steps();
    ModuleReport report{model_.type_name(), {}};
    for (const char* name : {"training mode", "evaluation", "inputs", "shapes", "softmax", "activations",
                             "finite", "gradients reach", "gradients flow", "zero_grad", "loss", "optimizer",
                             "step", "learning rate", "symmetry"})
      report.checks.push_back(faults_.try_emplace(name, ModuleCheck{name}).first->second);
    return report;
  }

  // ---- The causes: the check that fails, what was found ("" if it is not so), and advice. A check reports
  // the first of its causes.

  void cause(const char* check, const std::string& found, const char* advice) {
    if (!found.empty())
      faults_.try_emplace(check, ModuleCheck{check, ModuleCheck::Verdict::failed, found, advice});
  }

  void judge_recorded(const Recorded& op) {
    const Tensor& x = op.inputs.front();
    const Names softmaxes = {"softmax", "masked_softmax", "log_softmax", "cross_entropy",
                             "softmax_cross_entropy"};
    const bool is_softmax = one_of(op.called, softmaxes) && one_of(op.name, softmaxes);
    const bool is_nll = op.called == "nll_loss" && op.name == "gather";
    const bool sums_to_one = (is_softmax || is_nll) && !softmax_dims(x).empty();
    const bool positive = is_nll && count(x, [](double v) { return v > 1e-4; }) > 0;
    const bool is_cut = op.called == "cross_entropy" && computed_by(x, {"sigmoid", "relu"});
    const bool is_bce = op.called == "binary_cross_entropy_with_logits" && computed_by(x, {"sigmoid"});
    const std::string given = op.given();
    cause("softmax", if_so(is_softmax && sums_to_one, "softmax twice: ", given, ", which sums to 1"),
          "pass the scores; this function applies the softmax itself");
    cause("softmax", if_so(is_nll && sums_to_one, "no logarithm: ", given, ", which sums to 1"),
          "apply log_softmax instead of softmax, or pass the scores to cross_entropy");
    cause("softmax", if_so(positive, "no logarithm: ", given, " with values above 0"),
          "nll_loss takes log-probabilities: apply log_softmax, or pass the scores to cross_entropy");
    cause("softmax", if_so(is_cut, "scores cut: ", given, ", the result of sigmoid or relu"),
          "pass scores of any sign and size; cross_entropy applies the softmax itself");
    cause("softmax", if_so(is_bce, "sigmoid twice: ", given, ", the result of sigmoid"),
          "pass the scores, or use binary_cross_entropy");
    cause("activations", op.mostly("relu", "dead layer, all 0", kDead, [](double y) { return y == 0; }),
          "no gradient passes: a bias far below 0, a learning rate that was too large, or inputs far from 0");
    const auto at_end = [](double y) { return std::abs(y) > 0.999; };
    const auto at_end_of_sigmoid = [&](double y) { return at_end(2 * y - 1); };
    const char* too_large = "almost no gradient passes: the weights or inputs are too large";
    cause("activations", op.mostly("tanh", "saturated, -1 or 1", kSaturated, at_end), too_large);
    cause("activations", op.mostly("sigmoid", "saturated, 0 or 1", kSaturated, at_end_of_sigmoid), too_large);
  }

  void judge_steps() {
    cause("shapes", broadcast_,
          "prediction and target must have the same shape; squeeze or unsqueeze one of them");
    cause("softmax", softmax_along_batch(), "pass the dimension of the classes: softmax(x, -1)");
    cause("finite", parameters("not finite: the gradient of ", &Learned::has_infinite_gradient), kGuard);
    const bool wrong_sign = decreased_ == 0 && !ascends();
    cause("loss", if_so(wrong_sign && increased_ > 0, "loss maximized: the steps lead to a larger error"),
          "remove the minus sign before the loss; optimizers minimize unless maximize = true");
    cause("loss",
          if_so(wrong_sign && minimizes_likelihood_,
                "loss maximized: the steps decrease the log-probabilities of the targets"),
          "put a minus sign before the log-likelihood, or pass the scores to cross_entropy");
    cause("optimizer", detail::optimizer_mismatch(model_, optimizer_),
          "create the optimizer from model.parameters() after the last change of the model");
    cause(
        "gradients reach",
        if_so(pass_ids_.empty(),
              "no gradient: no backward() ran, and the step returned no loss with a graph"),
        "call loss.backward(); nothing between the parameters and the loss may be detached or under NoGrad");
    cause("gradients reach",
          if_so(learned_.empty(), "nothing learns: no parameter of the model requires a gradient"),
          "call model.requires_grad_(true), or name the parameters in visit");
    cause("gradients reach", parameters("no gradient: ", &Learned::has_no_gradient),
          "forward does not use it, or uses it detached, under NoGrad or as an earlier copy");
    cause("gradients reach", if_so(!unregistered_.empty(), "not named: ", unregistered_),
          "name it in visit, and create no layers in forward");
    if (!any(&Learned::has_nonzero_gradient)) return;

    cause("gradients flow", parameters("gradient 0: ", &Learned::has_zero_gradient),
          "caused by dead activations, weights that are all 0, or a mask that excludes everything");
    cause("gradients flow", gradients_far_apart(),
          "many layers without norm or residual connection, or initial weights that are too small or large");

    double changed = 0, norm = 0;
    for (const Learned& one : learned_) {
      changed += inner(one.change(), one.change());
      norm += inner(one.before[0], one.before[0]);
    }
    const double ratio = std::sqrt(changed / norm);  // infinite if all parameters were 0
    double lr = 0;
    for (size_t group = 0; group < optimizer_.groups(); ++group) lr = std::max(lr, optimizer_.lr(group));
    const std::string change = text("two steps with a rate of ", lr, " change the parameters by ",
                                    short_number(ratio), " of their norm");
    const std::string unmoved =
        if_so(updates_of(optimizer_) == updates_before_, "no step: the parameters stay as they are");
    cause("step", if_so(lr == 0, "learning rate 0: nothing moves"),
          "choose a rate, or check the first value of the schedule");
    cause("step", if_so(!any(&Learned::is_held), unmoved), "the optimizer holds none of them");
    cause("step", if_so(any([](const Learned& one) { return one.p.grad().defined(); }), unmoved),
          "call optimizer.step() after backward()");
    cause("step", unmoved, "call optimizer.step() after backward() and before zero_grad()");
    cause("step", if_so(ratio < kNoEffect, "learning rate without effect: ", change), "choose a larger rate");
    const double from = losses_[0], to = losses_[1];
    const bool jumps = (to > from && ratio > 3) || (to > 2 * std::abs(from) && ratio > 0.1);
    cause("learning rate",
          if_so(jumps, "learning rate too large: the loss goes from ", short_number(from), " to ",
                short_number(to), ", ", change),
          "try a tenth of the rate");
    cause("symmetry", parameters("units alike: all rows are equal in ", &Learned::keeps_equal_rows),
          "they stay equal; start from random weights");
  }

  // ---- What they are found by

  bool any(const auto& condition) const { return std::ranges::any_of(learned_, condition); }
  // "what 0.weight [16, 2], 0.bias [16]": the parameters for which the condition holds.
  std::string parameters(const char* what, const auto& condition) const {
    std::vector<std::string> found;
    for (const Learned& one : learned_)
      if (std::invoke(condition, one)) found.push_back(text(one.name, " ", one.p.shape()));
    return if_so(!found.empty(), what, detail::listed(found));
  }

  // Whether the first step went up along the gradient, as with maximize = true.
  bool ascends() const {
    double slope = 0;
    for (const Learned& one : learned_)
      if (one.gradient[0].defined())
        slope += inner(one.gradient[0], kernel::sub(one.before[1], one.before[0]));
    return slope > 0;
  }

  std::string softmax_along_batch() const {
    for (const auto& [shape, given] : batch_softmaxes_)
      if (batch_sizes_.contains(shape[0]) && std::count(shape.begin(), shape.end(), shape[0]) == 1)
        return text("softmax along the batch: ", given, " and sums over its ", shape[0], " examples");
    return "";
  }

  std::string gradients_far_apart() const {
    std::map<double, std::string> names;  // by size of the gradient
    for (const Learned& one : learned_)
      if (rms(one.g()) > 0 && !one.is_bias()) names.try_emplace(rms(one.g()), one.name);
    if (names.empty()) return "";
    const auto& [least, smallest] = *names.begin();
    const auto& [most, largest] = *names.rbegin();
    return if_so(most > kFarApart * least, "vanishing or exploding gradients: root mean square ",
                 short_number(least), " of ", smallest, ", ", short_number(most), " of ", largest);
  }

  // ---- What the steps show

  void on_result(const Operation& op, const Tensor&) override {
    const std::string_view called = detail::current_scope ? detail::current_scope->name : op.name;
    const Tensor& x = op.inputs.front();
    const bool fixed = !OpScope::rule() && !x.requires_grad();
    const double size = fixed && one_of(called, {"linear", "matmul", "addmm"}) ? rms(x) : 0;
    const bool evaluates = !op.recording && detail::ModuleCall::any() && model_.training();
    const uint64_t drawn = default_generator().position();
    cause("evaluation",
          if_so(evaluates && (called == "dropout" || (evaluates_ && drawn != drawn_)),
                "dropout left on: ", called, " draws random numbers under NoGrad"),
          "call model.eval() before an evaluation, and model.train() after it");
    cause("inputs",
          if_so(size > kLargeInput, "large input: ", called, " is given ", x.shape(), " of root mean square ",
                short_number(size)),
          "scale the data to mean 0 and standard deviation 1; initial weights assume that");
    evaluates_ = evaluates;
    drawn_ = drawn;
  }

  void on_recorded(const Operation& op, const Tensor& value, Node& node) override {
    if (OpScope::rule()) return;
    const std::string line = detail::user_line(node.line);
    const Recorded now{detail::current_scope ? detail::current_scope->name : op.name, op.name, op.inputs,
                       value,
                       text(*node.module ? " in " : "", node.module, line.empty() ? "" : " at ", line)};
    judge_recorded(now);
    note_batch(now);
    facts_[&node] = {Ref<Node>(&node), value.numel() == 1 ? value : Tensor(), is_error(now),
                     is_log_likelihood(now), broadcast_in(now)};
    if (value.numel() == 1 && broadcast_.empty()) broadcast_ = facts_[&node].broadcast;
  }

  void on_backward(Node& node, const Tensor& g) override {
    const Fact& fact = facts_[&node];
    increased_ += fact.error && common_value(g) < 0;
    decreased_ += fact.error && common_value(g) > 0;
    decreased_ += fact.log_likelihood && count(g, [](double v) { return v < 0; }) > 0;
    if (!pass_ids_.insert(node.pass_id).second) return;
    minimizes_likelihood_ |= fact.log_likelihood;
    if (fact.scalar.defined()) {
      const double loss = losses_[step_] = fact.scalar.item();
      cause("finite", if_so(!std::isfinite(loss), "not finite: the loss is ", loss), kGuard);
      if (unregistered_.empty()) unregistered_ = detail::unregistered_leaves(fact.scalar, model_);
    }
    cause("training mode", if_so(!model_.training(), "eval() while it learns: backward() runs in eval mode"),
          "dropout does nothing; call model.train() after an evaluation");
    if (step_ == 0 || pass_ids_.size() > 1) return;
    const auto kept = [](const Learned& one) { return one.is_held && rms(one.p.grad()) > 0; };
    cause("zero_grad", parameters("gradients never dropped: the step before left one in ", kept),
          "call optimizer.zero_grad() in each step before backward()");
  }

  void on_leaf_gradient(Node& leaf, const Tensor& g) override {
    for (Learned& one : learned_)
      if (Node::of(one.p) == &leaf) {
        Tensor& sum = one.gradient[step_];
        sum = sum.defined() ? kernel::add(sum, g) : kernel::clone(g);
      }
  }

  Fact& fact_of(const Tensor& x) { return facts_[x.requires_grad() ? Node::of(x) : nullptr]; }

  // Whether it is the result of a loss function, or the square or absolute value of prediction - target.
  bool is_error(const Recorded& op) {
    const Tensor& x = op.inputs.front();
    if (one_of(op.called, {"cross_entropy", "softmax_cross_entropy", "sequence_loss", "nll_loss", "mse_loss",
                           "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "binary_cross_entropy",
                           "binary_cross_entropy_with_logits"})) {
      for (const Tensor& input : op.inputs)  // the last operation is the result
        fact_of(input).error = false;
      return op.value.numel() == 1;
    }
    const bool even =
        one_of(op.name, {"square", "abs", "pow"}) || (op.name == "mul" && x.same_as(op.inputs[1]));
    if (!even || op.value.numel() == 1 || !computed_by(x, {"sub"})) return false;
    const Node::Input* operands = Node::of(x)->inputs();
    return !operands[0].node != !operands[1].node;
  }

  // Whether the values are log-probabilities or keep their sign: some of them, their sums and means, and
  // products with a mask or with the probabilities of a target.
  bool is_log_likelihood(const Recorded& op) {
    const Tensor &x = op.inputs.front(), &y = op.inputs.back();
    if (op.name == "log_softmax" || (op.name == "log" && computed_by(x, {"softmax"}))) return true;
    const bool first = fact_of(x).log_likelihood, last = fact_of(y).log_likelihood;
    const Tensor& factor = first ? y : x;
    if ((!first && !last) || (one_of(op.name, {"mul", "div"}) && factor.requires_grad())) return false;
    if (op.name == "div") return first && count(factor, [](double v) { return v <= 0; }) == 0;
    if (op.name == "mul")
      return count(factor, [](double v) { return v != 0 && v != 1; }) == 0 ||
             (factor.shape() == op.value.shape() && !softmax_dims(factor).empty());
    return one_of(op.name,
                  {"gather", "index_select", "select", "slice", "narrow", "reshape", "view", "squeeze",
                   "unsqueeze", "transpose", "permute", "where", "to", "add", "sum", "mean"});
  }

  // The difference or product of a prediction and a target of n elements each that has more than n elements,
  // as text, if the values depend on one.
  std::string broadcast_in(const Recorded& op) {
    const Tensor &a = op.inputs.front(), &b = op.inputs.back();
    if (one_of(op.name, {"sub", "mul"}) && a.requires_grad() != b.requires_grad() && a.numel() == b.numel() &&
        op.value.numel() > a.numel())
      return text("broadcast: ", op.called, op.where, " is given ", a.shape(), " and ", b.shape(),
                  ", and the loss averages over ", op.value.shape());
    std::string found;
    if (one_of(op.name, {"neg", "abs", "square", "pow", "sqrt", "add", "sub", "mul", "div", "where", "clamp",
                         "mean", "sum"}))
      for (const Tensor& x : op.inputs) found = std::max(found, fact_of(x).broadcast);
    return found;
  }

  // Notes a softmax along dimension 0, and what shows the size of the batch.
  void note_batch(const Recorded& op) {
    const Tensor& x = op.inputs.front();
    const bool total = one_of(op.name, {"mean", "sum"}) && op.value.numel() == 1 && x.numel() > 1;
    if ((total && x.numel() == x.size(0)) || (op.name == "cross_entropy" && x.dim() == 2))
      batch_sizes_.insert(x.size(0));
    if (one_of(op.name, {"sub", "mul"}))
      for (const Tensor& target : op.inputs)  // probabilities of classes
        if (!target.requires_grad() && target.dim() == 2 && softmax_dims(target) == Shape{1})
          batch_sizes_.insert(target.size(0));
    if (!one_of(op.name, {"softmax", "masked_softmax", "sparsemax", "log_softmax"}) || x.dim() < 2) return;
    const bool log = op.name == "log_softmax";
    if (softmax_dims(log ? kernel::map(op.value, [](auto v) { return std::exp(v); }) : op.value) == Shape{0})
      batch_softmaxes_.emplace_back(x.shape(), op.given());
  }

  const Module& model_;
  Optimizer& optimizer_;
  const double updates_before_ = updates_of(optimizer_);
  std::vector<Learned> learned_;
  std::map<std::string, ModuleCheck> faults_;  // by check
  int step_ = 0;
  std::set<uint64_t> pass_ids_;    // of the backward passes of this step
  double losses_[2] = {NAN, NAN};  // by step: the last root of a backward pass

  std::map<const Node*, Fact> facts_;      // of this step
  int64_t decreased_ = 0, increased_ = 0;  // errors that the steps make smaller, and larger
  bool minimizes_likelihood_ = false;      // whether a loss is a log-likelihood without a minus sign
  std::string broadcast_;                  // the first that a loss averages
  std::string unregistered_;               // leaves of a loss that the model does not name
  std::set<int64_t> batch_sizes_;
  std::vector<std::pair<Shape, std::string>> batch_softmaxes_;
  uint64_t drawn_ = 0;      // random numbers before the last operation
  bool evaluates_ = false;  // whether the last operation was part of an evaluation
};

}  // namespace

ModuleReport detail::diagnose(const Module& model, Optimizer& optimizer, const std::function<Tensor()>& step,
                              SourceLocation line) {
  return TrainingDiagnoser(model, optimizer).run(step, line);
}

}  // namespace heed
