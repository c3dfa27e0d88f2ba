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
  std::vector<Tensor> params(size_t group) const { return groups_.at(group); }
  double lr(size_t group = 0) const { return const_cast<Optimizer*>(this)->lr_of(group); }
  void set_lr(double lr);                // of all groups
  void set_lr(size_t group, double lr);  // of one
  /// The momentum (SGD, RMSprop) or first beta (Adam, AdamW) of a group; null if this optimiser has none.
  virtual double* momentum(size_t /*group*/) & { return nullptr; }

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
  Options& options(size_t group = 0) & { return options_.at(group); }
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

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  // adds weight_decay p to the gradient
  bool nesterov = false;
  bool maximize = false;
};

/// Stochastic gradient descent. With momentum the steps follow a running sum of gradients:
///
///   v <- momentum v + (1 - dampening) g   (v <- g at the first step)
///   p <- p - lr v                         Nesterov: p <- p - lr (g + momentum v)
class SGD : public OptimizerWith<SGDOptions> {
 public:
  explicit SGD(const std::vector<Tensor>& params, const SGDOptions& options = {});
  explicit SGD(const std::vector<ParamGroup<SGDOptions>>& groups);
  double* momentum(size_t group) & override;

 private:
  void check_options(const SGDOptions& options) const override;
  void update(size_t group, const Tensor& p, const Tensor& g, State& state) override;
};

struct AdamOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;  // adds weight_decay p to the gradient
  bool amsgrad = false;
  bool maximize = false;
};

/// Adam (Kingma and Ba, 2015): steps of about lr, scaled by running means of the gradient and its square.
///
///   m <- beta1 m + (1 - beta1) g,  v <- beta2 v + (1 - beta2) g^2
///   p <- p - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
///
/// amsgrad puts the largest v so far for v.
class Adam : public OptimizerWith<AdamOptions> {
 public:
  explicit Adam(const std::vector<Tensor>& params, const AdamOptions& options = {});
  explicit Adam(const std::vector<ParamGroup<AdamOptions>>& groups);
  double* momentum(size_t group) & override;

 protected:
  Adam(const char* name, const std::vector<ParamGroup<AdamOptions>>& groups, bool decoupled);

 private:
  void check_options(const AdamOptions& options) const override;
  void update(size_t group, const Tensor& p, const Tensor& g, State& state) override;

  bool decoupled_;
};

struct AdamWOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.01;  // p <- p - lr weight_decay p before the step
  bool amsgrad = false;
  bool maximize = false;

  operator AdamOptions() const { return {lr, betas, eps, weight_decay, amsgrad, maximize}; }
};

/// Adam with decoupled weight decay (Loshchilov and Hutter, 2019): the decay shrinks the parameter itself and
/// does not pass through the moments.
class AdamW : public Adam {
 public:
  explicit AdamW(const std::vector<Tensor>& params, const AdamWOptions& options = {});
  explicit AdamW(const std::vector<ParamGroup<AdamWOptions>>& groups);
};

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;
  bool maximize = false;
};

/// RMSprop (Hinton, 2012): the gradient over the root of a running mean of its square.
///
///   v <- alpha v + (1 - alpha) g^2,  p <- p - lr g / (sqrt(v) + eps)
///
/// centered: v less the square of the running mean of g. momentum: b <- momentum b + the quotient, and b is
/// the step.
class RMSprop : public OptimizerWith<RMSpropOptions> {
 public:
  explicit RMSprop(const std::vector<Tensor>& params, const RMSpropOptions& options = {});
  explicit RMSprop(const std::vector<ParamGroup<RMSpropOptions>>& groups);
  double* momentum(size_t group) & override;

 private:
  void check_options(const RMSpropOptions& options) const override;
  void update(size_t group, const Tensor& p, const Tensor& g, State& state) override;
};

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;  // step t has the rate lr / (1 + (t - 1) lr_decay)
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  double eps = 1e-10;
  bool maximize = false;
};

/// Adagrad (Duchi, Hazan and Singer, 2011): the gradient over the root of the sum of all its squares.
///
///   s <- s + g^2,  p <- p - lr g / (sqrt(s) + eps)
class Adagrad : public OptimizerWith<AdagradOptions> {
 public:
  explicit Adagrad(const std::vector<Tensor>& params, const AdagradOptions& options = {});
  explicit Adagrad(const std::vector<ParamGroup<AdagradOptions>>& groups);

 private:
  void check_options(const AdagradOptions& options) const override;
  void update(size_t group, const Tensor& p, const Tensor& g, State& state) override;
};

}  // namespace heed
