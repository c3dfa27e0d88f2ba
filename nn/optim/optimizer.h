#pragma once

#include "nn/state_dict.h"

/// The base of all optimizers.
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

/// The state of one parameter.
struct ParamState {
  int64_t step = 0;             ///< number of updates, including the running one
  bool created = false;         ///< whether a tensor was created for the running update
  std::vector<Tensor> tensors;  ///< one for each slot, undefined until the slot is used
};

/// Updates parameters by their gradients.
///
///   AdamW optimizer(model.parameters(), {.lr = 1e-3, .weight_decay = 0.1});
///   optimizer.zero_grad();
///   loss(model(x), y).backward();
///   optimizer.step();
///
/// Groups of parameters have their own options: SGD optimizer({{{w}, {.lr = 0.1}}, {{b}, {.lr = 0.01}}}).
/// A schedule (schedule.h) changes the learning rates between steps.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient. Not recorded; counts as a write to the parameters.
  ///
  /// Note [All or nothing]: a step that throws has changed nothing. Everything that can throw, such as the
  /// allocation of state, is done for all parameters before the first update, and updates are noexcept.
  void step(SourceLocation line = SourceLocation::current());
  /// Removes the gradients of all parameters.
  void zero_grad() const;

  const char* name() const { return name_; }
  size_t groups() const { return groups_; }
  /// The parameters of a group, or of all. Throws if there is no such group.
  std::vector<Tensor> params(std::optional<size_t> group = {}) const;
  double lr(size_t group = 0) const { return const_cast<Optimizer*>(this)->lr_of(group); }
  /// Sets the learning rate of all groups, of one, or of each. If a rate is negative, throws and changes
  /// none.
  void set_lr(double lr) { set_lr(std::vector<double>(groups_, lr)); }
  void set_lr(size_t group, double lr);
  void set_lr(const std::vector<double>& rates) { prepare_lr(rates).commit(); }
  /// The first phase of set_lr: does everything that may throw.
  PreparedLoad prepare_lr(std::vector<double> rates);
  /// The momentum (SGD, RMSprop) or first beta (Adam, AdamW) of a group; null if this optimizer has none.
  virtual double* momentum(size_t group) & = 0;

  /// The state of each parameter under its index ("3.exp_avg", "3.step"), and the learning rates ("lr.0").
  /// The tensors share the values: clone them to keep a copy.
  StateDict state_dict() const;
  /// Resumes from the state of another optimizer of the same kind and parameters. If a name, a shape, a dtype
  /// or a number does not fit, throws and changes nothing.
  void load_state_dict(const StateDict& state) { prepare_load(state).commit(); }
  /// The first phase of a load: does everything that may throw.
  PreparedLoad prepare_load(const StateDict& state);

  /// Expires when the optimizer is destroyed.
  std::weak_ptr<Optimizer> weak() const { return self_; }

 protected:
  explicit Optimizer(const char* name) : name_(name), self_(this, [](Optimizer*) {}) {}
  /// Throws if there are no parameters, or one is not a floating leaf or is already in a group.
  void add_group(const std::vector<Tensor>& params);

  virtual double& lr_of(size_t group) = 0;
  virtual std::vector<StateSlot> slots(size_t group) const = 0;
  /// Updates one parameter. p and g are contiguous, and the state is allocated.
  virtual void update(size_t group, const Tensor& p, const Tensor& g, const ParamState& state) noexcept = 0;

  const char* const name_;

 private:
  struct Entry {
    size_t group;
    Tensor p;
    ParamState state;
  };
  ParamState next_state(const Entry& entry) const;

  std::vector<Entry> entries_;
  size_t groups_ = 0;
  std::shared_ptr<Optimizer> self_;  // owns nothing
};

/// The optimizer of an update rule. A rule is an options struct with a member `lr` and
///
///   static constexpr const char* kName        for messages
///   void check() const                        throws if the options are invalid
///   std::vector<StateSlot> slots() const      the state of a parameter
///   void update(const Tensor& p, const Tensor& g, const ParamState& state) const noexcept
///                                             one step: writes to p and state.tensors
///
/// See sgd.cpp for the rule of SGD.
template <class Rule>
class OptimizerOf : public Optimizer {
 public:
  using Options = Rule;
  /// One group of parameters.
  explicit OptimizerOf(const std::vector<Tensor>& params, const Options& options = {},
                       SourceLocation line = SourceLocation::current())
      : OptimizerOf(std::vector<ParamGroup<Options>>{{params, options}}, line) {}
  /// Several groups, each with its own options.
  explicit OptimizerOf(const std::vector<ParamGroup<Options>>& groups,
                       SourceLocation line = SourceLocation::current())
      : Optimizer(Rule::kName) {
    const OpScope scope(name_, line);
    for (const ParamGroup<Options>& group : groups) add_param_group(group);
  }

  /// The options of a group, which may be changed between steps.
  Options& options(size_t group = 0) & {
    check_in(name_, group < options_.size(), "group ", group, " of ", options_.size(), "; they count from 0");
    return options_[group];
  }
  void add_param_group(const ParamGroup<Options>& group) {
    group.options.check();
    add_group(group.params);
    options_.push_back(group.options);
  }
  double* momentum(size_t group) & override {
    if constexpr (requires(Options o) { o.betas; }) return options(group).betas.data();
    if constexpr (requires(Options o) { o.momentum; }) return &options(group).momentum;
    return nullptr;
  }

 private:
  double& lr_of(size_t group) override { return options(group).lr; }
  std::vector<StateSlot> slots(size_t group) const override { return options_[group].slots(); }
  void update(size_t group, const Tensor& p, const Tensor& g, const ParamState& state) noexcept override {
    static_assert(noexcept(options_[group].update(p, g, state)),
                  "update() must be noexcept, see Note [All or nothing]");
    options_[group].update(p, g, state);
  }
  std::vector<Options> options_;
};

}  // namespace heed
