#include "nn/optim/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "autograd/ops.h"
#include "nn/optim/clip.h"
#include "nn/optim/schedule.h"
#include "tests/support/parity.h"

using namespace heed;
using parity::Json;

namespace {

Tensor leaf(const std::vector<double>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())}).requires_grad_();
}

void read(const Json& config, const char* name, double& option) {
  if (config.contains(name)) option = parity::number(config[name]);
}
void read(const Json& config, const char* name, bool& option) {
  if (config.contains(name)) option = config[name].get<bool>();
}
void read(const Json& config, const char* name, std::array<double, 2>& option) {
  if (config.contains(name)) option = {config[name][0].get<double>(), config[name][1].get<double>()};
}

void read_all(const Json& c, SGDOptions& o) {
  read(c, "lr", o.lr), read(c, "momentum", o.momentum), read(c, "dampening", o.dampening);
  read(c, "weight_decay", o.weight_decay), read(c, "nesterov", o.nesterov), read(c, "maximize", o.maximize);
}
template <class Options>
void read_adam(const Json& c, Options& o) {
  read(c, "lr", o.lr), read(c, "betas", o.betas), read(c, "eps", o.eps);
  read(c, "weight_decay", o.weight_decay), read(c, "amsgrad", o.amsgrad), read(c, "maximize", o.maximize);
}
void read_all(const Json& c, AdamOptions& o) { read_adam(c, o); }
void read_all(const Json& c, AdamWOptions& o) { read_adam(c, o); }
void read_all(const Json& c, RMSpropOptions& o) {
  read(c, "lr", o.lr), read(c, "alpha", o.alpha), read(c, "eps", o.eps), read(c, "momentum", o.momentum);
  read(c, "weight_decay", o.weight_decay), read(c, "centered", o.centered), read(c, "maximize", o.maximize);
}
void read_all(const Json& c, AdagradOptions& o) {
  read(c, "lr", o.lr), read(c, "lr_decay", o.lr_decay), read(c, "weight_decay", o.weight_decay);
  read(c, "eps", o.eps), read(c, "initial_accumulator_value", o.initial_accumulator_value);
  read(c, "maximize", o.maximize);
}

// The optimiser of a case, over its parameters by name and in its groups.
template <class Kind, class Options>
std::unique_ptr<Optimizer> build(const Json& config, const Json& groups,
                                 const std::vector<std::pair<std::string, Tensor>>& params) {
  std::vector<ParamGroup<Options>> built;
  const auto add = [&](const Json& group) {
    ParamGroup<Options> made;
    read_all(config, made.options);
    read_all(group, made.options);
    for (const auto& [name, p] : params)
      if (!group.contains("params") ||
          std::find(group["params"].begin(), group["params"].end(), name) != group["params"].end())
        made.params.push_back(p);
    built.push_back(made);
  };
  if (groups.is_null()) add(Json::object());
  for (const Json& group : groups) add(group);
  return std::make_unique<Kind>(built);
}

std::unique_ptr<Optimizer> build(const std::string& name, const Json& config, const Json& groups,
                                 const std::vector<std::pair<std::string, Tensor>>& params) {
  if (name == "SGD") return build<SGD, SGDOptions>(config, groups, params);
  if (name == "Adam") return build<Adam, AdamOptions>(config, groups, params);
  if (name == "AdamW") return build<AdamW, AdamWOptions>(config, groups, params);
  if (name == "RMSprop") return build<RMSprop, RMSpropOptions>(config, groups, params);
  if (name == "Adagrad") return build<Adagrad, AdagradOptions>(config, groups, params);
  fail("no optimiser ", name);
}

std::unique_ptr<Schedule> build_schedule(const Json& one_case, Optimizer& optimizer) {
  if (!one_case.contains("scheduler") || one_case["scheduler"].is_null()) return nullptr;
  const std::string name = one_case["scheduler"]["name"];
  const Json& c = one_case["scheduler"]["config"];
  if (name == "StepLR")
    return std::make_unique<StepLR>(optimizer, c["step_size"].get<int64_t>(), c.value("gamma", 0.1));
  if (name == "MultiStepLR")
    return std::make_unique<MultiStepLR>(optimizer, c["milestones"].get<std::vector<int64_t>>(),
                                         c.value("gamma", 0.1));
  if (name == "ExponentialLR") return std::make_unique<ExponentialLR>(optimizer, c["gamma"].get<double>());
  if (name == "LinearLR")
    return std::make_unique<LinearLR>(optimizer, c.value("start_factor", 1.0 / 3), c.value("end_factor", 1.0),
                                      c.value("total_iters", int64_t{5}));
  if (name == "CosineAnnealingLR")
    return std::make_unique<CosineAnnealingLR>(optimizer, c["T_max"].get<int64_t>(), c.value("eta_min", 0.0));
  if (name == "LambdaLR") {
    const std::string lambda = c["lambda"];
    if (lambda == "warmup5") return std::make_unique<WarmupLR>(optimizer, 5);
    if (lambda == "noam16w4") return std::make_unique<NoamLR>(optimizer, 16, 4);
    if (lambda == "invdecay")
      return std::make_unique<LambdaLR>(optimizer,
                                        [](int64_t t) { return 1 / (1 + 0.5 * static_cast<double>(t)); });
  }
  fail("no schedule ", name);
}

double clip(const Json& one_case, const std::vector<Tensor>& params) {
  if (one_case.contains("clip_grad_value")) clip_grad_value_(params, one_case["clip_grad_value"]);
  if (!one_case.contains("clip_grad_norm") || one_case["clip_grad_norm"].is_null()) return 0;
  const Json& c = one_case["clip_grad_norm"];
  return clip_grad_norm_(params, parity::number(c["max_norm"]),
                         c.contains("norm_type") ? parity::number(c["norm_type"]) : 2);
}

// Row `step` of a tensor [steps, ...].
Tensor row(const Tensor& x, int64_t step) {
  const Shape shape(x.shape().data() + 1, x.dim() - 1), strides(x.strides().data() + 1, x.dim() - 1);
  return x.view_as(shape, strides, x.body().offset + step * x.strides()[0]);
}

}  // namespace

TEST_CASE("optimisers: every step of the reference cases, with groups, schedules and clipping") {
  const parity::Cases cases("nn.json");
  int run = 0;
  for (const Json& one_case : cases) {
    if (one_case["group"] != "Optim") continue;
    ++run;
    INFO(one_case["id"].get<std::string>());
    std::vector<std::pair<std::string, Tensor>> named;
    std::vector<Tensor> params;
    for (const char* name : {"weight", "bias", "scale"})
      if (one_case["initial"].contains(name)) {
        named.emplace_back(name, cases.tensor(one_case["initial"][name]).requires_grad_());
        params.push_back(named.back().second);
      }
    const Json groups = one_case.value("param_groups", Json());
    const auto optimizer = build(one_case["op"], one_case["config"], groups, named);
    const auto schedule = build_schedule(one_case, *optimizer);
    const Tensor rates = cases.tensor(one_case["lr"]);
    const auto tolerance = parity::tolerance(one_case);
    for (int64_t step = 0; step < one_case["steps"].get<int64_t>(); ++step) {
      CAPTURE(step);
      for (size_t group = 0; group < optimizer->groups(); ++group)
        REQUIRE(optimizer->lr(group) ==
                doctest::Approx(row(row(rates, step), static_cast<int64_t>(group)).item()).epsilon(1e-12));
      for (const auto& [name, p] : named)
        p.set_grad(clone(row(cases.tensor(one_case["gradients"][name]), step)));
      const double norm = clip(one_case, params);
      if (one_case.contains("total_norm"))
        REQUIRE(norm ==
                doctest::Approx(row(cases.tensor(one_case["total_norm"]), step).item()).epsilon(1e-5));
      optimizer->step();
      if (schedule) schedule->step();
      for (const auto& [name, p] : named)
        REQUIRE(parity::difference(p.detach(), row(cases.tensor(one_case["after_step"][name]), step),
                                   tolerance) == "");
    }
  }
  CHECK(run > 0);
}

TEST_CASE("optimisers: training a small network follows the reference losses") {
  const parity::Cases cases("nn.json");
  int run = 0;
  for (const Json& one_case : cases) {
    if (one_case["group"] != "Train" ||
        one_case["model"].get<std::string>().find("LSTM") != std::string::npos)
      continue;
    ++run;
    INFO(one_case["id"].get<std::string>());
    std::vector<std::pair<std::string, Tensor>> named;
    std::vector<Tensor> params;
    for (const char* name : {"0.weight", "0.bias", "2.weight", "2.bias"}) {
      named.emplace_back(name, cases.tensor(one_case["params"][name]).requires_grad_());
      params.push_back(named.back().second);
    }
    const Tensor x = cases.tensor(one_case["inputs"]["x"]), y = cases.tensor(one_case["inputs"]["y"]);
    const auto optimizer = build(one_case["optimizer"]["name"], one_case["optimizer"]["config"], {}, named);
    const auto schedule = build_schedule(one_case, *optimizer);
    for (int64_t step = 0; step < one_case["steps"].get<int64_t>(); ++step) {
      optimizer->zero_grad();
      const Tensor output = linear(tanh(linear(x, params[0], params[1])), params[2], params[3]);
      const Tensor loss = mean(square(output - y));
      CHECK(parity::difference(loss.detach(), row(cases.tensor(one_case["losses"]), step),
                               parity::tolerance(one_case)) == "");
      loss.backward();
      clip(one_case, params);
      optimizer->step();
      if (schedule) schedule->step();
    }
    for (const auto& [name, p] : named)
      CHECK(parity::difference(p.detach(), cases.tensor(one_case["final"][name]),
                               parity::tolerance(one_case)) == "");
  }
  CHECK(run > 0);
}

TEST_CASE("optimisers: state goes from one to another, which goes on as the first would") {
  const auto gradient = [](int step) { return from_vector<double>({1.0 + step, -0.5 * step, 2}, {3}); };
  const Tensor a = leaf({1, 2, 3});
  Adam first({a}, {.lr = 0.1, .amsgrad = true});
  for (int step = 0; step < 3; ++step) a.set_grad(gradient(step)), first.step();
  first.set_lr(0.05);

  const Tensor b = leaf(a.to_vector<double>());
  Adam second({b}, {.lr = 0.1, .amsgrad = true});
  second.load_state_dict(first.state_dict());
  CHECK(second.lr() == 0.05);
  for (int step = 3; step < 6; ++step) {
    a.set_grad(gradient(step)), first.step();
    b.set_grad(gradient(step)), second.step();
  }
  CHECK(a.to_vector<double>() == b.to_vector<double>());

  const auto state = first.state_dict();
  CHECK(state.size() == 5);
  CHECK(state.at("0.step").item<int64_t>() == 6);
  CHECK(state.at("0.exp_avg").shape() == Shape{3});
  CHECK(state.count("0.max_exp_avg_sq") == 1);

  SGD other({b}, {.lr = 0.1});
  CHECK_THROWS_WITH(
      other.load_state_dict(state),
      "SGD: load_state_dict: 3 of 5 entries do not belong to 1 parameters in 1 groups of a SGD");
  const Tensor longer = leaf({1, 2, 3, 4});
  Adam third({longer});
  CHECK_THROWS_WITH(third.load_state_dict(state),
                    "Adam: load_state_dict: 0.exp_avg has shape [3] and the parameter [4]");
}

TEST_CASE("optimisers: parameters without a gradient stay, strided ones move, the write is seen") {
  const Tensor still = leaf({1, 2});
  const Tensor table = from_vector<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor column = table.view_as({2}, {3}, 1).requires_grad_();
  SGD optimizer({still, column}, {.lr = 1});
  const Tensor squares = sum(square(column));
  column.set_grad(from_vector<double>({10, 20}, {2}));
  optimizer.step();
  CHECK(still.to_vector<double>() == std::vector<double>{1, 2});
  CHECK(table.to_vector<double>() == std::vector<double>{1, -8, 3, 4, -15, 6});
  try {
    squares.backward();
    FAIL("an overwritten operand went unnoticed");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("SGD") != std::string::npos);
    CHECK(std::string(error.what()).find("optimizer_test.cpp") != std::string::npos);
  }
  optimizer.zero_grad();
  CHECK(!column.grad().defined());
}

TEST_CASE("optimisers: bad parameters and options are named") {
  const Tensor a = leaf({1}), b = leaf({2});
  CHECK_THROWS_WITH(SGD({a, b, a}), "SGD: parameter 2 of shape [1] is there twice; give each once");
  CHECK_THROWS_WITH(
      SGD({a * 2}),
      "SGD: parameter 0 is not a floating leaf; optimise the leaves that a result was computed from");
  CHECK_THROWS_WITH(SGD(std::vector<Tensor>{}),
                    "SGD: a group without parameters; is visit() of the model missing a line?");
  SGD optimizer({{{a}, {.lr = 0.1}}, {{b}, {.lr = 0.01}}});
  CHECK(optimizer.groups() == 2);
  CHECK(optimizer.lr(1) == 0.01);
  CHECK_THROWS_AS(optimizer.add_param_group({{a}, {}}), Error);
  CHECK_THROWS_WITH(optimizer.set_lr(-1), "SGD: a learning rate of -1; it must be at least 0");
  optimizer.set_lr(1, 0.5);
  CHECK(optimizer.options(1).lr == 0.5);
}
