#pragma once

#include "nn/state_dict.h"

/// What all optimizers have in common, and SGD.
namespace heed {

/// Parameters that are updated with the same options.
template <class Options>
struct ParamGroup {
  std::vector<Tensor> params;  ///< floating leaves
  Options options = {};
};

/// A state tensor that an optimizer keeps for each parameter.
struct StateSlot {
  const char* name;  ///< in the state dict
  bool used = true;  ///< whether an update with these options needs it
  double start = 0;  ///< value of all elements before the first update
};

/// What an optimizer remembers about one parameter.
struct ParamState {
  int64_t step = 0;             ///< number of updates, including the running one
  bool created = false;         ///< whether a tensor was created for the running update
  std::vector<Tensor> tensors;  ///< one for each slot, undefined until the slot is used
};

/// The base of all optimizers: groups of parameters, a state for each parameter, and one step for all.
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

  /// Updates every parameter that has a gradient. Not recorded; counts as a write into the parameters.
  ///
  /// Note [All or nothing]: where a step throws, it has changed nothing. Everything that can throw, such as
  /// the allocation of state, is done for all parameters before the first update, and updates are noexcept.
  void step(SourceLocation line = SourceLocation::current());
  /// Drops the gradients of all parameters.
  void zero_grad() const;

  const char* name() const { return name_; }  ///< "AdamW"
  size_t groups() const { return groups_; }   ///< Number of groups.
  /// The parameters of one group. Errors: there is no such group.
  std::vector<Tensor> params(size_t group) const;
  /// The learning rate of a group.
  double lr(size_t group = 0) const { return const_cast<Optimizer*>(this)->lr_of(group); }
  /// Sets the learning rate of all groups. Errors: below 0; then none is changed.
  void set_lr(double lr) { set_lr(std::vector<double>(groups(), lr)); }
  /// Sets that of one group.
  void set_lr(size_t group, double lr);
  /// Sets that of each group.
  void set_lr(const std::vector<double>& rates);
  /// Throws if `lr` is not a valid learning rate.
  void check_lr(double lr) const;
  /// The momentum (SGD, RMSprop) or first beta (Adam, AdamW) of a group; null if this optimizer has none.
  virtual double* momentum(size_t group) & = 0;

  /// The state of each parameter under its position among all ("3.exp_avg", "3.step"), and the learning rates
  /// ("lr.0"). The tensors share the values: clone them to keep a copy.
  StateDict state_dict() const;
  /// Resumes from the state of another optimizer of the same kind and parameters. Throws, and changes
  /// nothing, if a name, a shape, a dtype or a number does not fit.
  void load_state_dict(const StateDict& state) { prepare_load(state).commit(); }
  /// The first phase of a load: does everything that may throw.
  PreparedLoad prepare_load(const StateDict& state);

  /// Expires when the optimizer is destroyed.
  std::weak_ptr<Optimizer> weak() const { return self_; }

 protected:
  explicit Optimizer(const char* name) : name_(name) {}
  /// Errors: no parameters; one that is not a floating leaf, or is already in a group.
  void add_group(const std::vector<Tensor>& params);

  virtual double& lr_of(size_t group) = 0;
  virtual std::vector<StateSlot> slots(size_t group) const = 0;
  /// One step of one parameter. p and g are contiguous, and the state is allocated.
  virtual void update(size_t group, const Tensor& p, const Tensor& g, const ParamState& state) noexcept = 0;

  const char* name_;

 private:
  struct Entry {
    size_t group;
    Tensor p;
    ParamState state;
  };
  ParamState next_state(const Entry& entry) const;

  std::vector<Entry> entries_;
  size_t groups_ = 0;
  std::shared_ptr<Optimizer> self_{this, [](Optimizer*) {}};  // owns nothing
};

/// The optimizer of an update rule. A rule is an options struct with a member `lr` and
///
///   static constexpr const char* kName        for messages
///   void check() const                        throws if the options are invalid
///   std::vector<StateSlot> slots() const      the state of a parameter
///   void update(const Tensor& p, const Tensor& g, const ParamState& state) const noexcept
///                                             one step: writes into p and state.tensors
///
/// See optimizer.cpp for the rule of SGD.
template <class Rule>
class OptimizerOf : public Optimizer {
 public:
  using Options = Rule;
  /// One group.
  explicit OptimizerOf(const std::vector<Tensor>& params, const Options& options = {},
                       SourceLocation line = SourceLocation::current())
      : OptimizerOf(std::vector<ParamGroup<Options>>{{params, options}}, line) {}
  /// Several groups, each with its options.
  explicit OptimizerOf(const std::vector<ParamGroup<Options>>& groups,
                       SourceLocation line = SourceLocation::current())
      : Optimizer(Rule::kName) {
    const OpScope scope(name_, line);
    for (const ParamGroup<Options>& group : groups) add_param_group(group);
  }

  /// The options of a group, to read or change.
  Options& options(size_t group = 0) & {
    check_in(name_, group < options_.size(), "group ", group, " of ", options_.size(), "; they count from 0");
    return options_[group];
  }
  /// Adds parameters later.
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
  std::vector<StateSlot> slots(size_t group) const override { return options_[group].slots(); }
  void update(size_t group, const Tensor& p, const Tensor& g, const ParamState& state) noexcept override {
    static_assert(noexcept(options_[group].update(p, g, state)), "see Note [All or nothing]");
    options_[group].update(p, g, state);
  }
  std::vector<Options> options_;
};

/// Options of SGD.
struct SGDOptions {
  double lr = 1e-3;         ///< learning rate, at least 0
  double momentum = 0;      ///< share of the last step that is kept
  double dampening = 0;     ///< share of the gradient that is left out of the momentum
  double weight_decay = 0;  ///< adds weight_decay p to the gradient
  bool nesterov = false;    ///< looks one step ahead; needs momentum and no dampening
  bool maximize = false;    ///< ascends instead of descending

  static constexpr const char* kName = "SGD";
  void check() const;
  std::vector<StateSlot> slots() const { return {{"momentum_buffer", momentum != 0}}; }
  void update(const Tensor& p, const Tensor& g, const ParamState& state) const noexcept;
};

/// Stochastic gradient descent. With momentum the steps follow a running sum of gradients:
///
///   v <- momentum v + (1 - dampening) g   (v <- g at the first step)
///   p <- p - lr v                         Nesterov: p <- p - lr (g + momentum v)
using SGD = OptimizerOf<SGDOptions>;

namespace detail {
/// Throws if one of the options, named and given their values, is negative.
void check_not_negative(const char* optimizer, std::initializer_list<std::pair<const char*, double>> options);
}  // namespace detail

}  // namespace heed
