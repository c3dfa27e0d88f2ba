#include "nn/debug/diagnose.h"

#include "heed.h"
#include "tests/support/report.h"

namespace {

// Points in a plane with their class, out of three.
struct Points {
  Tensor x = randn({32, 2});
  Tensor label = to(x[{Slice(), 0}] > 0.5, int64) + to(x[{Slice(), 1}] > 0, int64);
};

Sequential classifier() { return Sequential{Linear(2, 16), ReLU(), Dropout(0.2), Linear(16, 3)}; }

void set_all(const Module& model, double value) {
  const NoGrad guard;
  for (const Tensor& p : model.parameters()) copy_(p, full(p.shape(), value));
}

// The usual training step.
template <class Loss>
auto usual(Optimizer& optimizer, Loss loss) {
  return [&optimizer, loss] {
    optimizer.zero_grad();
    loss().backward();
    optimizer.step();
  };
}

// Base class of broken layers that compute x weight + bias.
template <class Self>
struct Line2 : Layer<Self> {
  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
  }
  Parameter weight = randn({2, 3}), bias = zeros({3});
};
struct Unvisited : Line2<Unvisited> {
  Tensor forward(const Tensor& x) const { return matmul(x, weight) + bias + more; }
  Parameter more = zeros({3});
};
struct Detaches : Line2<Detaches> {
  Tensor forward(const Tensor& x) const { return matmul(x, weight.detach()) + bias; }
};
struct MakesAnew : Line2<MakesAnew> {
  Tensor forward(const Tensor& x) const { return Linear(3, 3)(matmul(x, weight) + bias); }
};

}  // namespace

TEST_CASE("diagnose finds the fault of a broken training") {
  manual_seed(1);
  const Points data;
  const auto& [x, label] = data;
  // The check that fails and the beginning of its finding.
  const auto expect = [](const ModuleReport& report, const std::string& check, const std::string& found) {
    CAPTURE(to_string(report));
    CHECK(report[check].verdict == ModuleCheck::Verdict::failed);
    CHECK(report[check].found.starts_with(found));
    CHECK(!report[check].cause.empty());
  };
  const auto only = [&](const ModuleReport& report, const std::string& check, const std::string& found) {
    expect(report, check, found);
    CHECK(failures(report) == Texts{check});
  };
  Sequential model = classifier();
  Adam adam(model.parameters(), {.lr = 0.01});
  const auto loss = [&] { return F::cross_entropy(model(x), label); };
  const auto fails = [&](auto step, const std::string& check, const std::string& found) {
    only(diagnose(model, adam, step), check, found);
  };
  const auto unreached = [&](auto layer, const std::string& found) {
    SGD sgd(layer.parameters());
    only(diagnose(layer, sgd, [&] { return F::cross_entropy(layer(x), label); }), "gradients reach", found);
  };

  SUBCASE("softmax twice") {
    fails(usual(adam, [&] { return F::cross_entropy(softmax(model(x), 1), label); }), "softmax",
          "softmax twice: cross_entropy");
    fails([&] { return -mean(log_softmax(softmax(model(x), -1), -1)); }, "softmax",
          "softmax twice: log_softmax");
  }
  SUBCASE("nll_loss without a logarithm, cross_entropy of cut scores") {
    fails([&] { return F::nll_loss(softmax(model(x), 1), label); }, "softmax", "no logarithm: nll_loss");
    fails([&] { return F::nll_loss(model(x), label); }, "softmax", "no logarithm: nll_loss");
    fails([&] { return F::cross_entropy(sigmoid(model(x)), label); }, "softmax", "scores cut: cross_entropy");
    fails([&] { return F::cross_entropy(relu(model(x)), label); }, "softmax", "scores cut: cross_entropy");
  }
  SUBCASE("a prediction that broadcasts against its target") {
    Sequential line{Linear(2, 1)};
    SGD sgd(line.parameters(), {.lr = 0.01});
    const Tensor y = matmul(x, tensor({2, -3.4})), t = to(y > 0, float32);
    const auto found = [&](auto step) { only(diagnose(line, sgd, step), "shapes", "broadcast: "); };
    found([&] { return mean(square(line(x) - y)); });
    found([&] { return sqrt(mean(pow(y - line(x), 2))); });
    found([&] { return sum(abs(line(x) - y)) / 32; });
    found([&] {
      const Tensor d = squeeze(line(x), 1) - unsqueeze(y, 1);
      return mean(d * d) + 0.01 * sum(square(line.get<Linear>(0).weight));
    });
    found([&] {
      const Tensor p = sigmoid(line(x));
      return -mean(t * log(p) + (1 - t) * log(1 - p));
    });
    CHECK(contains(diagnose(line, sgd, [&] { return mean(square(line(x) - y)); })["shapes"].found,
                   "is given [32, 1] and [32], and the loss averages over [32, 32]"));
  }
  SUBCASE("a softmax along the batch") {
    const auto found = [&](auto step) { fails(step, "softmax", "softmax along the batch: "); };
    found([&] { return F::nll_loss(log_softmax(model(x), 0), label); });
    found([&] { return -mean(gather(log_softmax(model(x), 0), 1, unsqueeze(label, 1))); });
    found([&] { return F::cross_entropy(matmul(softmax(model(x), 0), ones({3, 3})) + model(x), label); });
  }
  SUBCASE("a loss that is maximized") {
    Sequential line{Linear(2, 1)};
    SGD sgd(line.parameters(), {.lr = 0.01}), up(line.parameters(), {.lr = 0.01, .maximize = true});
    const Tensor y = 3 * x[{Slice(), Slice(0, 1)}];
    const auto found = [&](const ModuleReport& report) { only(report, "loss", "loss maximized: "); };
    found(diagnose(model, adam, [&] { return -loss(); }));
    found(diagnose(model, adam, [&] { return -1e-2 * F::nll_loss(log_softmax(model(x), 1), label); }));
    found(diagnose(line, sgd, [&] { return 0 - F::huber_loss(line(x), y); }));
    found(diagnose(line, sgd, [&] { return -mean(square(line(x) - y)); }));
    CHECK(failures(diagnose(line, up, [&] { return -mean(square(line(x) - y)); })).empty());
    // A log-likelihood without a minus sign.
    SGD ascent(model.parameters(), {.lr = 0.01, .maximize = true});
    const Tensor mask = to(label != 2, float32), shares = to(one_hot(label), float32);
    const auto picked = [&] { return gather(log_softmax(model(x), 1), 1, unsqueeze(label, 1)); };
    const auto minimized = [&](auto step) { found(diagnose(model, adam, step)); };
    minimized([&] { return mean(picked()); });
    minimized([&] { return sum(squeeze(picked(), 1) * mask) / sum(mask); });
    minimized([&] { return mean(log(softmax(model(x), 1))[{arange(32, int64), label}]); });
    minimized([&] { return mean(sum(shares * log_softmax(model(x), 1), 1)); });
    CHECK(failures(diagnose(model, ascent, [&] { return mean(picked()); })).empty());
  }
  SUBCASE("sigmoid twice") {
    const Tensor target = to(x[{Slice(), 0}] > 0, float32);
    Sequential one{Linear(2, 8), Tanh(), Linear(8, 1), Sigmoid()};
    Adam its(one.parameters());
    only(
        diagnose(one, its, [&] { return F::binary_cross_entropy_with_logits(one(x), unsqueeze(target, 1)); }),
        "softmax", "sigmoid twice");
  }
  SUBCASE("dropout left on") {
    const auto found = [&](const Module& layer, Optimizer& optimizer, auto its_loss, const std::string& in) {
      const auto step = [&] {
        usual(optimizer, its_loss)();
        const NoGrad guard;
        its_loss();
      };
      only(diagnose(layer, optimizer, step), "evaluation", "dropout left on: " + in);
    };
    found(model, adam, loss, "dropout");
    MultiheadAttention attention(4, 2, {.dropout = 0.5});
    const Tensor tokens = randn({3, 5, 4});
    SGD sgd(attention.parameters(), {.lr = 0.1});
    found(
        attention, sgd, [&] { return mean(pow(attention(tokens).output, 2)); }, "");
  }
  SUBCASE("training in eval()") {
    model.eval();
    fails(loss, "training mode", "eval() while it learns");
  }
  SUBCASE("a learning rate of 0 or without effect") {
    adam.set_lr(0);
    fails(loss, "step", "learning rate 0");
    adam.set_lr(1e-12);
    fails(loss, "step", "learning rate without effect");
  }
  SUBCASE("a learning rate that is too large") {
    adam.set_lr(30);
    expect(diagnose(model, adam, loss), "learning rate", "learning rate too large");
    Sequential line{Linear(2, 1)};
    SGD sgd(line.parameters(), {.lr = 10});
    const Tensor y = 3 * x[{Slice(), Slice(0, 1)}];
    expect(diagnose(line, sgd, [&] { return F::mse_loss(line(x), y); }), "learning rate",
           "learning rate too large");
  }
  SUBCASE("a dead layer") {
    model.get<Linear>(0).bias = full({16}, -100);
    const ModuleReport report = diagnose(model, adam, loss);
    expect(report, "activations", "dead layer, all 0: 100 % of what relu in 1 at " + std::string(__FILE__));
    expect(report, "gradients flow", "gradient 0: 0.weight [16, 2]");
  }
  SUBCASE("a saturated layer") {
    Sequential one{Linear(2, 16), Tanh(), Linear(16, 3)};
    one.get<Linear>(0).weight = full({16, 2}, 1000) * randn({16, 2});
    Adam its(one.parameters());
    expect(diagnose(one, its, [&] { return F::cross_entropy(one(x), label); }), "activations",
           "saturated, -1 or 1: ");
  }
  SUBCASE("vanishing gradients") {
    Sequential deep{Linear(2, 16)};
    for (int i = 0; i < 12; ++i) deep.push_back(Sigmoid()), deep.push_back(Linear(16, 16));
    Adam its(deep.parameters());
    only(diagnose(deep, its, [&] { return F::cross_entropy(deep(x), label); }), "gradients flow",
         "vanishing or exploding gradients");
  }
  SUBCASE("no zero_grad()") {
    const auto step = [&] {
      loss().backward();
      adam.step();
    };
    fails(step, "zero_grad", "gradients never dropped: the step before left one in 0.weight [16, 2]");
  }
  SUBCASE("no step(), or step() after zero_grad()") {
    const ModuleReport none = diagnose(model, adam, [&] {
      adam.zero_grad();
      loss().backward();
    });
    only(none, "step", "no step");
    CHECK(none["step"].cause == "call optimizer.step() after backward()");
    const ModuleReport late = diagnose(model, adam, [&] {
      loss().backward();
      adam.zero_grad();
      adam.step();
    });
    only(late, "step", "no step");
    CHECK(contains(late["step"].cause, "before zero_grad()"));
  }
  SUBCASE("no backward()") {
    fails([&] { static_cast<void>(loss()); }, "gradients reach", "no gradient: no backward() ran");
    const auto nothing = [&] {
      const NoGrad guard;
      return F::cross_entropy(Linear(2, 3)(x), label);
    };
    fails(nothing, "gradients reach", "no gradient: no backward() ran");
    fails([&] { return loss().detach(); }, "gradients reach", "no gradient: no backward() ran");
  }
  SUBCASE("another model's parameters") {
    const Sequential copy = model;
    const ModuleReport report =
        diagnose(copy, adam, usual(adam, [&] { return F::cross_entropy(copy(x), label); }));
    expect(report, "optimizer", "0.weight [16, 2] is not held by Adam");
    expect(report, "step", "no step");
    CHECK(report["step"].cause == "the optimizer holds none of them");
    CHECK(failures(report) == Texts{"optimizer", "step"});
    CHECK(contains(to_string(report), "\n             0.bias [16] is not held by Adam"));
    Adam half(model.get<Linear>(0).parameters());
    only(diagnose(model, half, loss), "optimizer", "3.weight [3, 16] is not held by Adam");
  }
  SUBCASE("a member that visit does not name, and a layer created in forward") {
    unreached(Unvisited(), "not named: a leaf of shape [3]");
    unreached(MakesAnew(), "not named: a leaf of shape [3, 3]");
  }
  SUBCASE("detached or frozen parameters") {
    unreached(Detaches(), "no gradient: weight [2, 3]");
    model.requires_grad_(false);
    expect(diagnose(model, adam, loss), "gradients reach", "no gradient");
    model.get<Linear>(3).requires_grad_();
    CHECK(failures(diagnose(model, adam, loss)).empty());
  }
  SUBCASE("an infinite loss") {
    fails([&] { return loss() + log(sum(model(x)) * 0); }, "finite", "not finite: the loss is -inf");
  }
  SUBCASE("data that is not normalized") {
    expect(diagnose(model, adam, [&] { return F::cross_entropy(model(200 * x + 1000), label); }), "inputs",
           "large input: linear is given [32, 2]");
  }
  SUBCASE("equal initial weights") {
    set_all(model, 0.1);
    model.eval();
    expect(diagnose(model, adam, loss), "symmetry", "units alike: all rows are equal in 0.weight");
  }
}

TEST_CASE("diagnose raises no false alarm for correct trainings") {
  manual_seed(2);
  const Points data;
  const auto& [x, label] = data;
  const Tensor tokens = randint(0, 7, {8, 5});
  const auto sound = [](const Module& model, Optimizer& optimizer, auto step) {
    const ModuleReport report = diagnose(model, optimizer, step);
    CHECK_MESSAGE(report.ok(), to_string(report));
  };
  SUBCASE("an evaluation in the step, zero_grad() at its end") {
    Sequential model = classifier();
    AdamW optimizer(model.parameters());
    sound(model, optimizer, [&] {
      F::cross_entropy(model(x), label).backward();
      optimizer.step();
      optimizer.zero_grad();
      const NoGrad guard;
      model.eval();
      softmax(model(x), 1);
      model.train();
    });
  }
  SUBCASE("linear models that start at or near 0") {
    Sequential line{Linear(2, 1)}, near{Linear(2, 1)}, classes{Linear(2, 3)};
    for (Sequential* one : {&line, &near, &classes}) set_all(*one, 0);
    near.get<Linear>(0).weight = 0.01 * randn({1, 2});
    const Tensor y = matmul(x, tensor({2, -3.4})) + 4.2;
    for (Sequential* one : {&line, &near}) {
      SGD optimizer(one->parameters(), {.lr = 0.03});
      sound(*one, optimizer, [&] { return F::mse_loss(squeeze((*one)(x), 1), y); });
    }
    SGD optimizer(classes.parameters(), {.lr = 0.1});
    sound(classes, optimizer, [&] { return F::cross_entropy(classes(x), label); });
  }
  SUBCASE("a rate that warms up from 0, a last layer that starts at 0") {
    Sequential model = classifier();
    Adam optimizer(model.parameters(), {.lr = 1e-3});
    Sequential zero = model;
    zero.get<Linear>(3).weight = zeros({3, 16});
    Adam its(zero.parameters());
    sound(zero, its, [&] { return F::cross_entropy(zero(x), label); });
    LambdaLR schedule(optimizer, [](int64_t t) { return static_cast<double>(t) / 4000; });
    sound(model, optimizer, [&] {
      optimizer.zero_grad();
      F::cross_entropy(model(x), label).backward();
      optimizer.step();
      schedule.step();
    });
  }
  SUBCASE("gradients accumulated over two halves of a batch") {
    Sequential model = classifier();
    Adam optimizer(model.parameters(), {.lr = 0.05});
    sound(model, optimizer, [&] {
      optimizer.zero_grad();
      for (const int64_t begin : {0, 16})
        F::cross_entropy(model(narrow(x, 0, begin, 16)), narrow(label, 0, begin, 16)).backward();
      optimizer.step();
    });
  }
  SUBCASE("noise that is added to the data under NoGrad") {
    Sequential model = classifier();
    Adam optimizer(model.parameters());
    sound(model, optimizer, [&] {
      Tensor noisy = x;
      {
        const NoGrad guard;
        noisy = x + 0.1 * randn(x.shape());
        noisy = noisy + 0.1 * randn(x.shape());
      }
      return F::cross_entropy(model(noisy), label);
    });
  }
  SUBCASE("every loss of classification") {
    const Tensor shares = to(one_hot(label), float32), teacher = softmax(randn({32, 3}), 1);
    const auto check = [&](auto loss) {
      Sequential model = classifier();
      Adam optimizer(model.parameters());
      sound(model, optimizer, [&] { return loss(model(x)); });
    };
    check([&](const Tensor& y) { return F::cross_entropy(y, label, {.label_smoothing = 0.1}); });
    check([&](const Tensor& y) { return F::cross_entropy(y, shares); });
    check([&](const Tensor& y) { return F::cross_entropy(y, teacher, {.label_smoothing = 0.1}); });
    check([&](const Tensor& y) { return F::nll_loss(log_softmax(y, 1), label); });
    check([&](const Tensor& y) {
      return F::nll_loss(log(softmax(y, -1)), label, {.weight = tensor({1, 2, 0.5}), .ignore_index = 2});
    });
    check([&](const Tensor& y) { return -mean(sum(shares * log_softmax(y, 1), 1)); });
    // Log-likelihoods: a bonus for entropy, a margin to other classes, and gradients of a policy.
    const auto picked = [&](const Tensor& y, const Tensor& classes) {
      return gather(log_softmax(y, 1), 1, unsqueeze(classes, 1));
    };
    const Tensor other = to(label == 0, int64), costs = 1 + rand({32, 1});
    check(
        [&](const auto& y) { return 0.1 * sum(softmax(y, 1) * log_softmax(y, 1)) - mean(picked(y, label)); });
    check([&](const Tensor& y) { return mean(picked(y, other)) + mean(-picked(y, label)); });
    check([&](const Tensor& y) { return mean(picked(y, label) * costs); });
    check([&](const Tensor& y) { return -mean(picked(y, label) * -costs); });
    check([&](const Tensor& y) { return F::kl_div(log_softmax(y, 1), teacher, {}); });
    check([&](const Tensor& y) { return F::binary_cross_entropy_with_logits(y, shares); });
    check([&](const Tensor& y) { return F::binary_cross_entropy(sigmoid(y), shares); });
    check([&](const Tensor& y) { return F::mse_loss(softmax(y, 1), shares); });
    // Classes before examples: a softmax along dimension 0 is right.
    check([&](const Tensor& y) { return -mean(sum(transpose(shares) * log_softmax(transpose(y), 0), 0)); });
  }
  SUBCASE("regression by hand, attention over time before the batch") {
    const Tensor y = matmul(x, tensor({2, -3.4})), sequence = randn({5, 32, 2});
    const auto check = [&](auto loss) {
      Sequential line{Linear(2, 1)};
      SGD optimizer(line.parameters(), {.lr = 0.01});
      sound(line, optimizer, [&] { return loss(line); });
    };
    check([&](auto& line) { return mean(square(squeeze(line(x), 1) - y)); });
    check([&](auto& line) { return sqrt(mean(pow(line(x) - unsqueeze(y, 1), 2))); });
    check([&](auto& line) {
      const Tensor d = abs(squeeze(line(x), 1) - y);
      return mean(where(d < 1, 0.5 * d * d, d - 0.5));
    });
    check([&](auto& line) {  // kernel regression of n points on n points: [n, 1] - [n] is intended
      const Tensor weights = softmax(-square(line(x) - y), 1);
      return mean(square(matmul(weights, y) - y));
    });
    check([&](auto& line) {
      const Tensor weights = softmax(line(sequence), 0);
      return mean(square(sum(weights * sequence[{Slice(), Slice(), Slice(0, 1)}], 0) - unsqueeze(y, 1)));
    });
  }
  SUBCASE("kernel regression") {
    NadarayaWatson model({.learn = true});
    const Tensor keys = linspace(0, 5, 20), values = 2 * sin(keys);
    SGD optimizer(model.parameters(), {.lr = 0.5});
    const auto own = OwnPoint::exclude;
    sound(model, optimizer, [&] { return F::mse_loss(model(keys, keys, values, own), values); });
  }
  SUBCASE("a recurrent network with gradient clipping") {
    GRU gru(6, 8, {.num_layers = 2, .batch_first = true, .dropout = 0.1});
    Tensors parameters = gru.parameters();
    Adam optimizer(parameters);
    const Tensor inputs = randn({8, 5, 6}), weights = randn({8, 7});
    sound(gru, optimizer, [&] {
      optimizer.zero_grad();
      F::cross_entropy(reshape(matmul(gru(inputs).output, weights), {40, 7}), reshape(tokens, {40}))
          .backward();
      clip_grad_norm_(parameters, 1);
      optimizer.step();
    });
  }
  SUBCASE("a transformer") {
    Sequential net{Embedding(7, 8), TransformerEncoder(8, 2, 2, {.dim_feedforward = 16}), Linear(8, 7)};
    Adam optimizer(net.parameters());
    sound(net, optimizer, [&] { return F::cross_entropy(transpose(net(tokens), 1, 2), tokens); });
  }
}

TEST_CASE("diagnose: an error in backward() names the caller's line") {
  Sequential model = classifier();
  Adam adam(model.parameters());
  const Tensor loss = sum(model(randn({2, 2})));
  CHECK(contains(whole_message([&] { diagnose(model, adam, [&] { return loss; }); }), "diagnose_test.cpp"));
}

TEST_CASE("diagnose prints a report, and its steps train the model") {
  manual_seed(1);
  const Points data;
  Sequential model{Linear(2, 3)};
  SGD sgd(model.parameters(), {.lr = 0, .momentum = 0.9});
  int64_t steps = 0;
  const auto loss = [&] { return ++steps, F::cross_entropy(model(data.x), data.label); };
  CHECK(to_string(diagnose(model, sgd, loss)) == R"(Sequential: 1 of 15 checks failed
  passed   training mode
  passed   evaluation
  passed   inputs
  passed   shapes
  passed   softmax
  passed   activations
  passed   finite
  passed   gradients reach
  passed   gradients flow
  passed   zero_grad
  passed   loss
  passed   optimizer
  FAILED   step
             learning rate 0: nothing moves
             likely: choose a rate, or check the first value of the schedule
  passed   learning rate
  passed   symmetry)");
  CHECK(steps == 2);
  CHECK(sgd.state_dict().at("0.step").item() == 2);
}
