#pragma once

#include <array>
#include <functional>

#include "nn/state_dict.h"

/// SGD, Adam, AdamW, RMSprop, Adagrad, and what they have in common.
namespace heed {

/// Parameters that are updated with the same options.
template <class Options>
struct ParamGroup {
  std::vector<Tensor> params;  ///< floating leaves, each once
  Options options = {};        ///< theirs
};

/// The memory of an optimiser about one parameter: tensors of its shape, made when they are first asked for.
struct OptimizerState {
  int64_t step = 0;               ///< the number of this step, from 1
  std::array<Tensor, 3> tensors;  ///< such as running means, undefined until asked for

  /// tensors[slot], filled with `value` at first.
  Tensor remembered(size_t slot, const Tensor& p, double value = 0);
};

/// The base of all optimisers: parameters in groups, what is remembered about each, and one step for all.
///
///   AdamW optimizer(model.parameters(), {.lr = 1e-3, .weight_decay = 0.1});
///   optimizer.zero_grad();
///   loss(model(x), y).backward();
///   optimizer.step();
///
/// Groups have options of their own: SGD optimizer({{{w}, {.lr = 0.1}}, {{b}, {.lr = 0.01}}}).
/// A schedule (schedule.h) changes the learning rates between steps.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Moves every parameter that has a gradient, or none: where it throws, nothing has changed. Not recorded;
  /// counts as a write into the parameters.
  void step(SourceLocation line = SourceLocation::current());
  /// Drops the gradients of all parameters.
  void zero_grad() const;

  /// Of its kind: "AdamW".
  const char* name() const { return name_; }
  /// The number of groups.
  size_t groups() const { return groups_; }
  /// The parameters of one group. Errors: there is no such group.
  std::vector<Tensor> params(size_t group) const;
  /// The learning rate of a group.
  double lr(size_t group = 0) const { return const_cast<Optimizer*>(this)->lr_of(group); }
  /// The learning rate of all groups. Errors: below 0; then none is changed.
  void set_lr(double lr) { set_lr(std::vector<double>(groups(), lr)); }
  /// Of one group.
  void set_lr(size_t group, double lr) {
    check_lr(lr);
    lr_of(group) = lr;
  }
  /// Of each group.
  void set_lr(const std::vector<double>& rates);
  /// Throws unless `lr` can be a learning rate.
  void check_lr(double lr) const;
  /// The momentum (SGD, RMSprop) or first beta (Adam, AdamW) of a group; null if this optimiser has none.
  virtual double* momentum(size_t group) & = 0;

  /// The memory of each parameter under its place among all ("3.exp_avg", "3.step"), and the learning rates
  /// ("lr.0"). The tensors share the values: clone what is to stay.
  StateDict state_dict() const;
  /// Continues where another optimizer of the same kind and parameters stopped. Throws, and changes nothing,
  /// if a name, a shape or a number does not fit.
  void load_state_dict(const StateDict& state) { prepare_load(state).commit(); }
  /// The first phase of a load: does everything that may throw.
  PreparedLoad prepare_load(const StateDict& state);

  /// Points here as long as the optimiser lives.
  std::weak_ptr<Optimizer> weak() const { return self_; }

 protected:
  /// Names of the tensors in OptimizerState, null behind the last.
  using Names = std::array<const char*, 3>;
  /// A name for messages, and those in the state dict.
  Optimizer(const char* name, Names memory) : name_(name), memory_(memory) {}
  /// Errors: no parameters; one that is not a floating leaf, or there already.
  void add_group(const std::vector<Tensor>& params);

  /// The learning rate in the options of a group.
  virtual double& lr_of(size_t group) = 0;
  /// Makes ready to move p against its gradient g: all that may throw. What is returned moves it.
  virtual std::function<void()> step_one(size_t group, const Tensor& p, const Tensor& g,
                                         OptimizerState& state) = 0;

  const char* name_;  ///< for messages

 private:
  struct Entry {
    size_t group;
    Tensor p;
    OptimizerState state;
  };
  Names memory_;  // of the tensors in OptimizerState
  std::vector<Entry> entries_;
  size_t groups_ = 0;
  std::shared_ptr<Optimizer> self_{this, [](Optimizer*) {}};  // owns nothing, ends with this
};

/// An optimiser is its options, which know how to step. They have a member `lr`, and
///
///   static constexpr const char* kName                  for messages
///   static constexpr std::array<const char*, 3> kMemory    names of the tensors in OptimizerState
///   void check() const                                  throws when they cannot be
///   std::function<void()> update(const Tensor& p, const Tensor& g, OptimizerState& state) const
///                                                       one step of one parameter, made ready; it runs when
///                                                       called
template <class OptionsType>
class OptimizerOf : public Optimizer {
 public:
  using Options = OptionsType;  ///< what may be chosen
  /// One group.
  explicit OptimizerOf(const std::vector<Tensor>& params, const Options& options = {},
                       SourceLocation line = SourceLocation::current())
      : OptimizerOf(std::vector<ParamGroup<Options>>{{params, options}}, line) {}
  /// Several groups, with options of their own.
  explicit OptimizerOf(const std::vector<ParamGroup<Options>>& groups,
                       SourceLocation line = SourceLocation::current())
      : Optimizer(Options::kName, Options::kMemory) {
    const OpScope scope(name_, line);
    for (const ParamGroup<Options>& group : groups) add_param_group(group);
  }

  /// The options of a group, to be read or changed.
  Options& options(size_t group = 0) & {
    check(group < options_.size(), name_, ": group ", group, " of ", options_.size(), "; they count from 0");
    return options_[group];
  }
  /// Parameters that join later.
  void add_param_group(const ParamGroup<Options>& group) {
    group.options.check();
    add_group(group.params);
    options_.push_back(group.options);
  }
  double* momentum(size_t group) & override {
    if constexpr (requires(Options o) { o.betas; })
      return options(group).betas.data();
    else if constexpr (requires(Options o) { o.momentum; })
      return &options(group).momentum;
    else
      return nullptr;
  }

 private:
  double& lr_of(size_t group) override { return options(group).lr; }
  std::function<void()> step_one(size_t group, const Tensor& p, const Tensor& g,
                                 OptimizerState& state) override {
    return options_[group].update(p, g, state);
  }
  std::vector<Options> options_;
};

/// Choices of SGD.
struct SGDOptions {
  double lr = 1e-3;         ///< the learning rate, at least 0
  double momentum = 0;      ///< how much of the last step goes on
  double dampening = 0;     ///< how much less of the gradient comes in
  double weight_decay = 0;  ///< adds weight_decay p to the gradient
  bool nesterov = false;    ///< look one step ahead; needs momentum and no dampening
  bool maximize = false;    ///< go along the gradient, not against it

  static constexpr const char* kName = "SGD";
  static constexpr std::array<const char*, 3> kMemory = {"momentum_buffer"};
  void check() const;
  std::function<void()> update(const Tensor& p, const Tensor& g, OptimizerState& state) const;
};

/// Stochastic gradient descent. With momentum the steps follow a running sum of gradients:
///
///   v <- momentum v + (1 - dampening) g   (v <- g at the first step)
///   p <- p - lr v                         Nesterov: p <- p - lr (g + momentum v)
using SGD = OptimizerOf<SGDOptions>;

/// Choices of Adam, or, decoupled, of AdamW.
template <bool decoupled>
struct AnyAdamOptions {
  double lr = 1e-3;                            ///< the learning rate, at least 0
  std::array<double, 2> betas = {0.9, 0.999};  ///< how much of the running means stays, in [0, 1)
  double eps = 1e-8;                           ///< keeps the quotient finite
  double weight_decay = decoupled ? 0.01 : 0;  ///< adds weight_decay p to the gradient, or shrinks p itself
  bool amsgrad = false;                        ///< the largest v so far for v
  bool maximize = false;                       ///< go along the gradient, not against it

  static constexpr const char* kName = decoupled ? "AdamW" : "Adam";
  static constexpr std::array<const char*, 3> kMemory = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  void check() const;
  std::function<void()> update(const Tensor& p, const Tensor& g, OptimizerState& state) const;
};
using AdamOptions = AnyAdamOptions<false>;  ///< choices of Adam
using AdamWOptions = AnyAdamOptions<true>;  ///< choices of AdamW

/// Adam (Kingma and Ba, 2015): steps of about lr, scaled by running means of the gradient and its square.
///
///   m <- beta1 m + (1 - beta1) g,  v <- beta2 v + (1 - beta2) g^2
///   p <- p - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
///
/// amsgrad puts the largest v so far for v.
using Adam = OptimizerOf<AdamOptions>;

/// Adam with decoupled weight decay (Loshchilov and Hutter, 2019): the decay shrinks the parameter itself and
/// does not pass through the moments.
///
///   p <- p - lr weight_decay p before the step of Adam
using AdamW = OptimizerOf<AdamWOptions>;

/// Choices of RMSprop.
struct RMSpropOptions {
  double lr = 1e-2;         ///< the learning rate, at least 0
  double alpha = 0.99;      ///< how much of the running mean stays
  double eps = 1e-8;        ///< keeps the quotient finite
  double weight_decay = 0;  ///< adds weight_decay p to the gradient
  double momentum = 0;      ///< how much of the last step goes on
  bool centered = false;    ///< less the square of the mean gradient
  bool maximize = false;    ///< go along the gradient, not against it

  static constexpr const char* kName = "RMSprop";
  static constexpr std::array<const char*, 3> kMemory = {"square_avg", "grad_avg", "momentum_buffer"};
  void check() const;
  std::function<void()> update(const Tensor& p, const Tensor& g, OptimizerState& state) const;
};

/// RMSprop (Hinton, 2012): the gradient over the root of a running mean of its square.
///
///   v <- alpha v + (1 - alpha) g^2,  p <- p - lr g / (sqrt(v) + eps)
///
/// centered: v less the square of the running mean of g. momentum: b <- momentum b + the quotient, and b is
/// the step.
using RMSprop = OptimizerOf<RMSpropOptions>;

/// Choices of Adagrad.
struct AdagradOptions {
  double lr = 1e-2;                      ///< the learning rate, at least 0
  double lr_decay = 0;                   ///< step t has the rate lr / (1 + (t - 1) lr_decay)
  double weight_decay = 0;               ///< adds weight_decay p to the gradient
  double initial_accumulator_value = 0;  ///< s before the first step
  double eps = 1e-10;                    ///< keeps the quotient finite
  bool maximize = false;                 ///< go along the gradient, not against it

  static constexpr const char* kName = "Adagrad";
  static constexpr std::array<const char*, 3> kMemory = {"sum"};
  void check() const;
  std::function<void()> update(const Tensor& p, const Tensor& g, OptimizerState& state) const;
};

/// Adagrad (Duchi, Hazan and Singer, 2011): the gradient over the root of the sum of all its squares.
///
///   s <- s + g^2,  p <- p - lr g / (sqrt(s) + eps)
using Adagrad = OptimizerOf<AdagradOptions>;

}  // namespace heed
