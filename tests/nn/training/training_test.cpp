#include "nn/training/training.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "nn/functional.h"
#include "nn/layers/dropout.h"
#include "nn/layers/linear.h"
#include "nn/layers/sequential.h"
#include "nn/optim/adaptive.h"
#include "nn/optim/sgd.h"
#include "nn/training/batches.h"
#include "tensor/table.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace {

// Learns y = sum of x^2 with dropout, from batches.
struct SquareFit {
  explicit SquareFit(TrainingOptions options)
      : model(Linear(2, 8), Dropout(0.2), Linear(8, 1)),
        adam(model.parameters()),
        batches(20, 6),
        training(model, adam, add_messages(std::move(options))) {
    training.checkpoint().add("batches", batches);
  }

  TrainingOptions add_messages(TrainingOptions options) {
    options.on_message = [this](const std::string& text) { messages += text + "\n"; };
    return options;
  }
  Tensor loss() {
    const Tensor batch = batches.next();
    return F::mse_loss(model(x[batch]), y[batch]);
  }
  bool run(int64_t steps) {
    return training.run(
        steps, [this] { return loss(); }, [this] { return F::mse_loss(model(x), y).item(); });
  }

  Tensor x = counted({20, 2}) / 20, y = sum(x * x, 1, true);
  Sequential model;
  Adam adam;
  Batches batches;
  std::string messages;
  Training training;
};

std::string bytes_of_model(const Module& model) {
  std::string all;
  for (const auto& [name, x] : model.state_dict()) all += name + bytes_of(x);
  return all;
}

// A model w with the loss (w - 1)^2, without noise.
struct Parabola : Layer<Parabola> {
  explicit Parabola(double start) : w(full({1}, start)) {}
  Tensor forward() const { return sum((w - 1) * (w - 1)); }
  void visit(Visitor& v) override { v("w", w); }
  double value() const { return w.item(); }

  Parameter w;
};

}  // namespace

TEST_CASE("Training: a model in two lines, with log and checkpoint") {
  const Folder folder;
  manual_seed(1);
  const Tensor x = counted({10, 1}) / 10, y = 3 * x + 1;
  Linear model(1, 1);
  Adam adam(model.parameters(), {.lr = 0.1});
  Training training(model, adam,
                    {.folder = folder / "line", .patience = 20, .on_message = [](const std::string&) {}});
  CHECK(training.run(200, [&] { return F::mse_loss(model(x), y); }));
  CHECK(std::abs(model.weight.item() - 3) < 0.05);
  const std::vector<LossCurve> log = read_log(folder / "line/log.jsonl");
  REQUIRE(log.size() == 1);
  CHECK(std::ssize(log[0].steps) == training.step());
  CHECK(log[0].losses.back() < 0.01 * log[0].losses.front());
  CHECK(training.checkpoint().files().size() == 1);
}

TEST_CASE("Training: without a folder nothing is written") {
  Parabola model(0);
  SGD sgd(model.parameters(), {.lr = 0.1});
  Training training(model, sgd);
  CHECK(training.run(3, [&] { return model(); }));
  CHECK(training.step() == 3);
  CHECK(training.checkpoint().files().empty());
  CHECK_FALSE(std::filesystem::exists("log.jsonl"));
  CHECK(training.run(5, [&] { return model(); }));  // two more
  CHECK(training.step() == 5);
}

TEST_CASE("Training: shards of a batch give the loss and the gradients of the whole batch") {
  const auto train = [](Processes* processes, const std::function<StepRecord(SquareFit&)>& step) {
    manual_seed(1);
    SquareFit fit({.max_norm = 0.1, .processes = processes});
    fit.model.eval();  // without dropout, which differs between shards
    fit.training.run(5, [&] { return step(fit); });
    return Texts{bytes_of_model(fit.model), short_number(fit.training.last().loss)};
  };
  const auto shared = [](SquareFit& fit) {
    const Tensor batch = fit.batches.next();
    return fit.training.descend(batch.numel(), [&](int64_t from, int64_t to) {
      const Tensor rows = narrow(batch, 0, from, to - from);
      return ShardLoss{F::mse_loss(fit.model(fit.x[rows]), fit.y[rows]), to - from};
    });
  };
  const auto single = [](SquareFit& fit) { return fit.training.descend(fit.loss()); };
  const Texts whole = train(nullptr, single);
  CHECK(train(nullptr, shared) == whole);
  Processes one, three({.shards = 3});
  CHECK(train(&one, shared) == whole);
  CHECK(train(&three, shared)[1] == whole[1]);
  CHECK(train(&three, shared) == train(&three, shared));
  CHECK(train(&one, single) == whole);
  CHECK_ERROR_HAS(train(&three, single), "give descend() the rows and a function");
}

TEST_CASE("Training: stopped and resumed, it computes the same bits") {
  const Folder folder;
  const auto run = [&](const std::string& name, int64_t stop, bool resume) {
    manual_seed(resume ? 99 : 1);
    SquareFit fit({.folder = folder / name, .validate_every = 5, .resume = resume, .checkpoint_every = 4});
    if (resume) {
      CHECK(fit.training.resume());
      CHECK(fit.training.step() == 13);
    }
    const bool complete = fit.training.run(
        30,
        [&] {
          if (fit.training.step() + 1 == stop) fit.training.stop();
          return fit.training.descend(fit.loss());
        },
        [&] { return F::mse_loss(fit.model(fit.x), fit.y).item(); });
    CHECK(complete == (stop == 0));
    CHECK(contains(fit.messages, "resuming after step 13") == resume);
    return bytes_of_model(fit.model);
  };
  const std::string whole = run("whole", 0, false);
  run("pieces", 13, false);
  CHECK(run("pieces", 0, true) == whole);
  for (const char* file :
       {"log.jsonl", "checkpoints/step-00000030.safetensors", "checkpoints/best.safetensors"})
    CHECK_MESSAGE(read_file(folder / "whole/" + file) == read_file(folder / "pieces/" + file), file);
}

TEST_CASE("Training: validations every few steps or after each tenth, in evaluation mode") {
  for (const auto& [every, steps, expected] : std::vector<std::tuple<int64_t, int64_t, std::string>>{
           {0, 20, "2 4 6 8 10 12 14 16 18 20 "}, {0, 3, "1 2 3 "}, {4, 10, "4 8 10 "}}) {
    SquareFit fit({.validate_every = every});
    std::string at;
    fit.training.run(
        steps, [&] { return fit.loss(); },
        [&] {
          CHECK_FALSE(fit.model.training());
          CHECK_FALSE(grad_enabled());
          at += std::to_string(fit.training.step()) + " ";
          return 1.0;
        });
    CHECK(at == expected);
    CHECK(fit.model.training());
  }
}

TEST_CASE("Training: stops early and restores the parameters of the lowest validation") {
  const Folder folder;
  Parabola model(0);
  SGD sgd(model.parameters(), {.lr = 0.1});
  Values validations = {5, 4, 4, 6, 3, 3, kNaN, 3, 9, 0}, after;
  std::string messages;
  const auto training = [&](bool resume) {
    return TrainingOptions{.folder = folder / "a",
                           .patience = 3,
                           .validate_every = 1,
                           .resume = resume,
                           .on_message = [&](const std::string& text) { messages += text + "\n"; }};
  };
  const auto validate = [&] {
    after.push_back(model.value());
    return validations[after.size() - 1];
  };
  {
    Training first(model, sgd, training(false));
    CHECK_FALSE(first.run(
        10, [&] { return first.step() == 5 ? (first.stop(), model()) : model(); }, validate));
  }
  model.load_state_dict({{"w", tensor({7})}});
  Training second(model, sgd, training(true));
  CHECK(second.run(
      10, [&] { return model(); }, validate));
  CHECK(second.step() == 9);  // the validations after steps 6, 8 and 9 were not lower
  CHECK(model.value() == after[4]);
  CHECK(contains(messages, "resuming after step 6\n"));
  CHECK(contains(messages, "stopped early after step 9: the loss was lowest 3 validations ago, 3"));
}

TEST_CASE("Training: without a validation the loss of each step counts for stopping early") {
  Parabola model(0);
  SGD sgd(model.parameters(), {.lr = 0.1});
  std::string messages;
  Training training(model, sgd,
                    {.patience = 2, .on_message = [&](const std::string& text) { messages += text; }});
  std::vector<double> seen;
  CHECK(training.run(100, [&] {
    seen.push_back(model.value());
    if (training.step() == 4) sgd.set_lr(3);  // diverges
    return model();
  }));
  CHECK(training.step() == 7);
  CHECK(model.value() == seen[4]);
  CHECK(contains(messages, "stopped early after step 7: the loss was lowest 2 steps ago, "));
}

TEST_CASE("Training: the best parameters are restored also without an early stop") {
  Parabola model(0);
  SGD sgd(model.parameters(), {.lr = 3});
  Training training(model, sgd, {.patience = 50});
  training.run(5, [&] { return model(); });
  CHECK(model.value() == 0);
}

TEST_CASE("Training: resumed with patience, and when it is complete") {
  const Folder folder;
  std::string messages;
  for (const int64_t patience : {0, 3, 0}) {
    Parabola model(0);
    SGD sgd(model.parameters(), {.lr = 0.1});
    Training training(model, sgd,
                      {.folder = folder / "a",
                       .patience = patience,
                       .resume = true,
                       .on_message = [&](const std::string& text) { messages += text + "\n"; }});
    CHECK(training.run(patience == 0 ? 2 : 4, [&] { return model(); }));
  }
  CHECK(messages ==
        "there is no checkpoint yet; starting with the first step\n"
        "resuming after step 2\n"
        "the training is complete: step 4\n");
}

TEST_CASE("Training: the record of the last step, also within its validation") {
  Parabola model(0);
  SGD sgd(model.parameters(), {.lr = 0.1});
  Training training(model, sgd);
  CHECK(std::isnan(training.last().loss));
  double loss = 0;
  const auto validate = [&] { return loss = training.last().loss, 0.5; };
  training.run(
      1, [&] { return model(); }, validate);
  CHECK(loss == 1);
  CHECK(training.last().rate == 0.1);
  CHECK(training.last().validation == 0.5);
}

TEST_CASE("Training: several trainings share a folder, a log and a line of progress") {
  const Folder folder;
  Progress progress("training", 6);
  for (const char* name : {"a", "b"}) {
    Parabola model(0);
    SGD sgd(model.parameters(), {.lr = 0.1});
    Training training(model, sgd,
                      {.folder = folder / "both",
                       .checkpoint_every = 0,
                       .name = name,
                       .append_log = name[0] == 'b',
                       .progress = &progress});
    training.run(3, [&] { return model(); });
    CHECK(std::filesystem::exists(folder / "both/checkpoints/" + name + "/step-00000003.safetensors"));
  }
  CHECK(progress.done());
  const std::vector<LossCurve> log = read_log(folder / "both/log.jsonl");
  REQUIRE(log.size() == 2);
  CHECK(log[1].name == "b");
  CHECK(log[0].losses == log[1].losses);
}

TEST_CASE("Training: checkpoints that are saved, and those of an earlier training") {
  const Folder folder;
  const auto train = [&](const std::string& name, TrainingOptions options) {
    Parabola model(0);
    SGD sgd(model.parameters(), {.lr = 0.1});
    std::string messages;
    options.folder = folder / name;
    options.on_message = [&](const std::string& text) { messages += text; };
    Training training(model, sgd, options);
    training.run(
        10, [&] { return model(); }, [&] { return model().item(); });
    return std::pair(training.checkpoint().files().size(), messages);
  };
  CHECK(train("a", {.checkpoint_every = 5}).first == 2);
  CHECK(std::filesystem::exists(folder / "a/checkpoints/best.safetensors"));
  CHECK(train("b", {.checkpoint_every = 0, .keep_best = false}).first == 0);
  CHECK(train("c", {.checkpoint_every = 0}).first == 1);
  const auto [count, messages] = train("a", {});
  CHECK(count == 1);
  CHECK(messages == "the checkpoints of an earlier training are now in " + folder / "a/checkpoints.before");
  CHECK(train("d", {.resume = true}).second == "there is no checkpoint yet; starting with the first step");
}

TEST_CASE("Training: descend clips the gradient and changes nothing if the loss is not finite") {
  Linear model(2, 1, {.bias = false});
  model.load_state_dict({{"weight", tensor({{3, 4}})}});
  SGD optimizer(model.parameters(), {.lr = 0.5});
  Training training(model, optimizer, {.max_norm = 1});
  const StepRecord record = training.descend(sum(model(tensor({{6, 8}}))), 7);
  CHECK(record.loss == 50);
  CHECK(record.rate == 0.5);
  CHECK(record.tokens == 7);
  CHECK(record.gradient_norm == doctest::Approx(10));
  const Values after = values(model.weight);  // the gradient (6, 8) is clipped to (0.6, 0.8)
  CHECK(largest_difference(after, {2.7, 3.6}) < 1e-5);
  CHECK_ERROR(training.descend(sum(model(tensor({{kInf, 0}})))),
              "Training: the loss of step 1 is inf; check the data and the model");
  CHECK(values(model.weight) == after);
  const auto overflow = [&] { return sum(model(tensor({{training.step() == 1 ? kInf : 0, 0}}))); };
  CHECK_ERROR(training.run(2, overflow), "Training: the loss of step 2 is inf; take a smaller learning rate");
  CHECK(std::isnan(Training(model, optimizer).descend(sum(model(ones({1, 2})))).gradient_norm));
}

TEST_CASE("Training: a signal stops it after the running step, with a checkpoint") {
  const Folder folder;
  const auto earlier = std::signal(SIGINT, SIG_DFL);  // a shell ignores it for tests in the background
  int signal = 0;
  Parabola model(0);
  SGD sgd(model.parameters(), {.lr = 0.1});
  Training training(model, sgd,
                    {.folder = folder / "a", .on_signal = [&](int received) { signal = received; }});
  const auto loss = [&] {
    if (training.step() == 2) std::raise(SIGTERM);
    return model();
  };
  CHECK_FALSE(training.run(10, loss));
  CHECK(signal == SIGTERM);
  CHECK(training.step() == 3);
  CHECK(training.checkpoint().files() == Texts{folder / "a/checkpoints/step-00000003.safetensors"});
  CHECK(training.run(10, loss));
  CHECK_FALSE(training.run(11, [&] { return std::raise(SIGINT), model(); }));  // in the last step
  CHECK(signal == SIGINT);
  std::signal(SIGINT, earlier);
}

TEST_CASE("Training: an ignored signal stays ignored") {
  for (const int signal : {SIGINT, SIGTERM}) {
    Parabola model(0);
    SGD sgd(model.parameters(), {.lr = 0.1});
    Training training(model, sgd);
    const auto earlier = std::signal(signal, SIG_IGN);
    CHECK(training.run(3, [&] { return std::raise(signal), model(); }));
    CHECK((std::signal(signal, earlier) == SIG_IGN));
  }
}

TEST_CASE("Training: by default a signal ends the program after the checkpoint is saved") {
  const Folder folder;
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string at = folder / std::to_string(signal);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      std::signal(signal, SIG_DFL);
      if (!std::freopen((at + ".err").c_str(), "w", stderr)) _exit(2);
      Parabola model(0);
      SGD sgd(model.parameters(), {.lr = 0.1});
      Training training(model, sgd, {.folder = at});
      training.run(10, [&] { return std::raise(signal), model(); });
      _exit(1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK(read_file(at + ".err") == "stopped after step 1 by " +
                                        std::string(signal == SIGINT ? "SIGINT" : "SIGTERM") + "; " + at +
                                        "/checkpoints/step-00000001.safetensors contains its complete state, "
                                        "from which .resume = true continues\n");
  }
}

TEST_CASE("Training: invalid options") {
  Linear model(1, 1);
  SGD sgd(model.parameters());
  CHECK_ERROR(Training(model, sgd, {.resume = true}), "Training: resume needs a folder with checkpoints");
  CHECK_ERROR(Training(model, sgd, {.patience = -1}),
              "Training: patience is -1, validate_every 0, checkpoint_every 1000, max_norm inf; none may be "
              "negative or NaN");
  CHECK_ERROR_HAS(Training(model, sgd, {.max_norm = -1}), "max_norm -1; none may be negative");
  CHECK_ERROR_HAS(Training(model, sgd, {.max_norm = kNaN}), "max_norm nan; none may be negative");
  CHECK_ERROR(Training(model, sgd)
                  .run(-5,
                       [&] {
                         return sum(model(ones({1, 1})));
                       }),
              "Training: run: steps is -5; it must not be negative");
}
