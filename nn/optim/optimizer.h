#pragma once

#include <array>
#include <map>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace heed {

/// Parameters that are updated with the same options.
template <class Options>
struct ParamGroup {
  std::vector<Tensor> params;
  Options options = {};
};

/// What all optimisers share: parameters in groups, what is remembered about each, and one step for all.
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

  /// Moves every parameter that has a gradient. Not recorded; counts as a write into the parameters.
  void step(std::source_location line = std::source_location::current());
  /// Drops the gradients of all parameters.
  void zero_grad() const;

  /// The number of groups, and the parameters of one.
  size_t groups() const { return groups_.size(); }
  const std::vector<Tensor>& params(size_t group) const { return groups_.at(group); }
  double lr(size_t group = 0) const { return const_cast<Optimizer*>(this)->lr_of(group); }
  void set_lr(double lr);                // of all groups
  void set_lr(size_t group, double lr);  // of one
  /// The momentum (SGD, RMSprop) or first beta (Adam, AdamW) of a group; null if this optimiser has none.
  virtual double* momentum(size_t /*group*/) { return nullptr; }

  /// What is remembered, under the place of the parameter among all ("3.exp_avg", "3.step"), and the learning
  /// rates ("lr.0"). The tensors share the values: clone what is to stay.
  std::map<std::string, Tensor> state_dict() const;
  /// Takes up where another optimiser of the same kind and parameters stood. Throws, and changes nothing, if
  /// a name or shape does not belong.
  void load_state_dict(const std::map<std::string, Tensor>& state);

 protected:
  /// What is remembered about one parameter: tensors of its shape, made when they are first asked for.
  struct State {
    int64_t step = 0;
    std::array<Tensor, 3> tensors;
  };
  using Names = std::array<const char*, 3>;

  Optimizer(const char* name, Names names) : name_(name), names_(names) {}
  void add_group(const std::vector<Tensor>& params);

  virtual double& lr_of(size_t group) = 0;
  /// One step of one parameter; `state.step` counts from 1.
  virtual void update(size_t group, const Tensor& p, const Tensor& g, State& state) = 0;
  /// state.tensors[slot], filled with `value` at first; undefined unless `wanted`.
  static Tensor remembered(State& state, size_t slot, const Tensor& p, bool wanted = true, double value = 0);

  const char* name_;  // for messages

 private:
  Names names_;  // of the tensors in State
  std::vector<std::vector<Tensor>> groups_;
  std::vector<State> states_;  // in the order of all groups' parameters
};

/// The base of an optimiser with options of its own.
template <class Options>
class OptimizerWith : public Optimizer {
 public:
  /// The options of a group, to be read or changed.
  Options& options(size_t group = 0) { return options_.at(group); }
  /// Parameters that join later.
  void add_param_group(ParamGroup<Options> group) {
    check_options(group.options);
    add_group(group.params);
    options_.push_back(group.options);
  }

 protected:
  OptimizerWith(const char* name, Names names) : Optimizer(name, names) {}
  virtual void check_options(const Options& options) const = 0;
  double& lr_of(size_t group) override {
    check(group < options_.size(), name_, ": group ", group, " of ", options_.size(), "; they count from 0");
    return options_[group].lr;
  }
  const Options& of(size_t group) const { return options_[group]; }

 private:
  std::vector<Options> options_;
};

}  // namespace heed
