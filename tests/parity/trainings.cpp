// Optimizers, schedules and training runs of the reference cases.
#include "autograd/engine.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "nn/attention/kernel_regression.h"
#include "nn/optim/adaptive.h"
#include "nn/optim/clip.h"
#include "nn/optim/schedule.h"
#include "nn/optim/sgd.h"
#include "tensor/index.h"
#include "tests/parity/expression.h"

namespace heed::parity {
namespace {

// Reads the options of an optimizer by name; missing ones keep their defaults.
void read_all(const Fields& c, auto& options) {
  const auto read = [&](const char* name, auto&& option) {
    if constexpr (requires { option(options); }) option(options) = c.get(name, option(options));
  };
#define OPTION(name) read(#name, [](auto& o) -> decltype((o.name)) { return o.name; })
  OPTION(lr), OPTION(betas), OPTION(alpha), OPTION(eps), OPTION(weight_decay), OPTION(momentum);
  OPTION(dampening), OPTION(nesterov), OPTION(maximize), OPTION(amsgrad), OPTION(centered);
  OPTION(lr_decay), OPTION(initial_accumulator_value);
}

using Params = std::vector<NamedTensor>;

std::vector<Tensor> tensors_of(const Params& params) {
  std::vector<Tensor> tensors;
  for (const NamedTensor& p : params) tensors.push_back(p.tensor);
  return tensors;
}

template <class Kind, class Options>
std::unique_ptr<Optimizer> optimizer(const Fields& config, const Json& groups, const Params& params) {
  Options options;
  read_all(config, options);
  std::vector<ParamGroup<Options>> built;
  for (const Json& json : groups) {
    const Fields group("key of a parameter group", json);
    built.push_back({{}, options});
    read_all(group, built.back().options);
    for (const std::string name : group["params"]) {
      const auto found = std::ranges::find(params, name, &NamedTensor::name);
      check(found != params.end(), "there is no parameter ", name);
      built.back().params.push_back(found->tensor);
    }
    group.check_all_asked();
  }
  if (built.empty()) built.push_back({tensors_of(params), options});
  config.check_all_asked();
  return std::make_unique<Kind>(built);
}

const std::map<std::string, decltype(&optimizer<SGD, SGDOptions>)> optimizers = {
    {"SGD", optimizer<SGD, SGDOptions>},
    {"Adam", optimizer<Adam, AdamOptions>},
    {"AdamW", optimizer<AdamW, AdamWOptions>},
    {"RMSprop", optimizer<RMSprop, RMSpropOptions>},
    {"Adagrad", optimizer<Adagrad, AdagradOptions>}};

std::unique_ptr<Schedule> schedule(const std::string& name, const Fields& c, Optimizer& o) {
  if (name == "StepLR") return std::make_unique<StepLR>(o, c["step_size"], c.get("gamma", 0.1));
  if (name == "MultiStepLR")
    return std::make_unique<MultiStepLR>(o, c["milestones"].get<std::vector<int64_t>>(), c.get("gamma", 0.1));
  if (name == "ExponentialLR") return std::make_unique<ExponentialLR>(o, number(c["gamma"]));
  if (name == "LinearLR")
    return std::make_unique<LinearLR>(o, c.get("start_factor", 1.0 / 3), c.get("end_factor", 1.0),
                                      c.get("total_iters", 5));
  if (name == "CosineAnnealingLR")
    return std::make_unique<CosineAnnealingLR>(o, c["T_max"], c.get("eta_min", 0.0));
  check(name == "LambdaLR", "scheduler ", name, " is not known");
  const std::string lambda = c["lambda"];
  if (lambda == "warmup5") return std::make_unique<WarmupLR>(o, 5);
  if (lambda == "noam16w4") return std::make_unique<NoamLR>(o, 16, 4);
  check(lambda == "invdecay", "lambda ", lambda, " is not known");
  return std::make_unique<LambdaLR>(o, [](int64_t t) { return 1 / (1 + 0.5 * static_cast<double>(t)); });
}

// Runs the training steps of a case: clipping, optimizer, scheduler.
class Trainer {
 public:
  Trainer(const Fields& fields, const std::string& name, const Json& config, Params params)
      : fields_(fields), params_(tensors_of(params)) {
    const auto found = optimizers.find(name);
    check(found != optimizers.end(), "optimizer ", name, " is not known");
    optimizer =
        found->second(Fields("optimizer key", config), fields.get("param_groups", Json::array()), params);
    if (!fields.has("scheduler")) return;
    const Fields given("scheduler field", fields["scheduler"]), keys("scheduler key", given["config"]);
    schedule_ = schedule(given["name"], keys, *optimizer);
    given.check_all_asked(), keys.check_all_asked();
  }

  /// Returns the norm before clipping.
  double step() {
    double norm = 0;
    if (fields_.has("clip_grad_value")) clip_grad_value_(params_, number(fields_["clip_grad_value"]));
    if (fields_.has("clip_grad_norm")) {
      const Fields clip("clip_grad_norm key", fields_["clip_grad_norm"]);
      norm = clip_grad_norm_(params_, number(clip["max_norm"]), clip.get("norm_type", 2.0));
      clip.check_all_asked();
    }
    optimizer->step();
    if (schedule_) schedule_->step();
    return norm;
  }

  std::unique_ptr<Optimizer> optimizer;

 private:
  const Fields& fields_;
  std::vector<Tensor> params_;
  std::unique_ptr<Schedule> schedule_;
};

bool near(double got, double want, double relative) {
  return std::abs(got - want) <= relative * std::abs(want);
}

// Optimizer steps with given gradients.
std::string run_optimizer(const Cases& cases, const Json& one, const Fields& fields) {
  check(fields["kind"] == "explicit_gradients", "kind ", one["kind"].dump(), " is not known");
  Params params;
  for (const char* name : {"weight", "bias", "scale"})
    if (fields["initial"].contains(name))
      params.push_back({name, cases.tensor(one["initial"][name]).requires_grad_()});
  check(params.size() == one["initial"].size(), "a parameter other than weight, bias and scale");
  Trainer trainer(fields, fields["op"], fields["config"], params);
  const Tensor rates = cases.tensor(fields["lr"]);
  const Tensor norms = fields.has("total_norm") ? cases.tensor(one["total_norm"]) : Tensor();

  Differences differences(cases, one);
  for (int64_t step = 0; step < fields["steps"].get<int64_t>(); ++step) {
    const std::string when = "step " + std::to_string(step) + ": ";
    for (size_t group = 0; group < trainer.optimizer->groups(); ++group)
      if (!near(trainer.optimizer->lr(group), rates[{step, static_cast<int64_t>(group)}].item(), 1e-12))
        differences.found(when + "learning rate of group " + std::to_string(group));
    for (const auto& [name, p] : params) p.set_grad(clone(cases.tensor(fields["gradients"][name])[step]));
    const double norm = trainer.step();
    if (norms.defined() && !near(norm, norms[step].item(), 1e-5)) differences.found(when + "total norm");
    for (const auto& [name, p] : params)
      differences.compare(when + name, p, cases.tensor(fields["after_step"][name])[step]);
  }
  return differences.text();
}

// A model and its loss as text, trained on one batch.
std::string run_training(const Cases& cases, const Json& one, const Fields& fields) {
  check(fields["kind"] == "trajectory", "kind ", one["kind"].dump(), " is not known");
  std::map<std::string, Tensor> inputs;
  for (const auto& [name, tensor] : fields["inputs"].items()) inputs[name] = cases.tensor(tensor);
  Program program(fields["model"]);
  StateDict start;
  for (const auto& [name, tensor] : fields["params"].items()) start[name] = cases.tensor(tensor);
  program.to(one.at("dtype") == "F64" ? float64 : float32);
  program.load_state_dict(start);
  const Fields optimizer("optimizer field", fields["optimizer"]);
  Trainer trainer(fields, optimizer["name"], optimizer["config"], program.named_parameters());
  optimizer.check_all_asked();
  const Tensor losses = cases.tensor(fields["losses"]);

  Differences differences(cases, one);
  for (int64_t step = 0; step < fields["steps"].get<int64_t>(); ++step) {
    program.zero_grad();
    const Tensor loss = program(inputs);
    differences.compare("loss of step " + std::to_string(step), loss, losses[step]);
    loss.backward();
    trainer.step();
  }
  check(fields["final"].size() == start.size(), "final has other parameters than params");
  const StateDict trained = program.state_dict();
  for (const auto& [name, tensor] : fields["final"].items())
    differences.compare(name, trained.at(name), tensor);
  return differences.text();
}

// Kernel regression with w learned by leave-one-out.
std::string run_regression(const Cases& cases, const Json& one, const Fields& fields) {
  check(fields["kind"] == "trajectory", "kind ", one["kind"].dump(), " is not known");
  const Fields config("configuration key", fields["config"]);
  const auto input = [&](const char* name) { return cases.tensor(fields["inputs"].at(name)); };
  const Tensor x = input("x_train"), y = input("y_train");
  check(config.get("n", x.numel()) == x.numel(), "n is not the number of points");
  NadarayaWatson model({.w = input("w0").item(), .learn = true, .dtype = x.dtype()});
  SGD optimizer(model.parameters(), {.lr = number(config["lr"])});
  const auto total = config.choice<bool>("reduction", {{"mean", false}, {"sum", true}});

  Differences differences(cases, one);
  const auto compare = [&](const char* what, int64_t step, const Tensor& got) {
    const Tensor want = cases.tensor(fields[what])[step];
    differences.compare(what + (" " + std::to_string(step)), reshape(got, want.shape()), want);
  };
  for (int64_t step = 0; step < config["steps"].get<int64_t>(); ++step) {
    optimizer.zero_grad();
    const Tensor difference = model(x, x, y, OwnPoint::exclude) - y, errors = difference * difference;
    const Tensor loss = total ? sum(errors) : mean(errors);
    loss.backward();
    compare("losses", step, loss);
    compare("w_grads", step, model.w.grad());
    optimizer.step();
    compare("w_after_step", step, model.w);
  }
  differences.compare("y_pred", model(input("x_test"), x, y), fields["y_pred"]);
  config.check_all_asked();
  return differences.text();
}

}  // namespace

const Runs& trainings() {
  static const Runs table = [] {
    Runs runs = {{"train", run_training}, {"NWKernelRegression", run_regression}};
    for (const auto& item : optimizers) runs[item.first] = run_optimizer;
    return runs;
  }();
  return table;
}

}  // namespace heed::parity
