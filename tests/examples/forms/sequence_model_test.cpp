#include "examples/forms/sequence_model.h"

#include "tests/support/expect.h"

using namespace heed;

TEST_CASE(
    "sequence_model: all forms have nearly the same number of parameters, without tables of positions") {
  const program::Task& task = program::find_task("copy");
  const int64_t plain = program::SequenceModel(program::find_form("softmax"), task).parameter_count();
  for (const program::Form& form : program::all_forms()) {
    CAPTURE(form.name);
    const program::SequenceModel model(form, task);
    const int64_t table = model.positions ? model.positions->parameter_count() : 0;
    CHECK(std::abs(model.parameter_count() - table - plain) <= task.layers * 65);
  }
}

TEST_CASE("sequence_model: answers of classes and of positions") {
  const program::Form& form = program::find_form("nope");
  const program::SequenceModel copy(form, program::find_task("copy")), sort(form, program::find_task("sort"));
  const Tensor ids = randint(0, 8, {3, 10});
  CHECK(copy(ids).shape() == Shape{3, 10, 16});
  const Tensor pointed = exp(sort(ids));
  CHECK(pointed.shape() == Shape{3, 10, 10});
  CHECK(max(abs(sum(pointed, -1) - 1)).item() < 1e-5);
  CHECK(copy.before_last(ids).shape() == Shape{3, 10, 32});
}

TEST_CASE("sequence_model: each form learns a batch") {
  const program::Task& task = program::find_task("copy");
  for (const program::Form& form : program::all_forms()) {
    CAPTURE(form.name);
    manual_seed(1);
    const program::SequenceModel model(form, task);
    const program::TaskBatch batch = task.draw(8, 6, false);
    Adam adam(model.parameters(), {.lr = 5e-3});
    RewardBaseline baseline;
    double first = 0, last = 0;
    for (int64_t step = 0; step < 10; ++step) {
      adam.zero_grad();
      const program::FormLoss loss = program::loss_of(model, batch, form, baseline);
      loss.total.backward();
      adam.step();
      last = loss.answers.item();
      if (step == 0) first = last;
      CHECK(form.reinforced == (loss.total.item() != last));
    }
    if (!form.reinforced) CHECK(last < 0.95 * first);
  }
}

TEST_CASE("sequence_model: training and test") {
  const program::Task& task = program::find_task("copy");
  const program::Form& form = program::find_form("softmax");
  manual_seed(1);
  program::SequenceModel model(form, task);
  int64_t calls = 0;
  const program::Trained trained = program::train_form(model, form, task, 12, [&](double) { ++calls; });
  CHECK(calls == 12);
  CHECK(trained.steps == 12);
  CHECK(trained.seconds > 0);
  CHECK(trained.halved_after == 0);
  CHECK(trained.parameters == model.parameter_count());
  CHECK(trained.loss < 3);
  CHECK(std::isfinite(trained.longer_loss));
}

TEST_CASE("sequence_model: the loss of choices rewards what is better than the baseline") {
  const program::Task& task = program::find_task("copy");
  const program::Form &with = program::find_form("hard_baseline"), &without = program::find_form("hard");
  manual_seed(3);
  const program::SequenceModel model(with, task);
  const program::TaskBatch batch = task.draw(4, 5, false);
  RewardBaseline first{.mean = -2}, none;
  manual_seed(4);
  const double a = program::loss_of(model, batch, with, first).total.item();
  manual_seed(4);
  const double b = program::loss_of(model, batch, without, none).total.item();
  // They differ by baseline times the mean log-probability of the choices that are asked for.
  const Tensor asked = to(batch.targets != program::kNotAsked, float32);
  const Tensor log_prob = sum(model.choices->log_prob, 1) * asked;
  CHECK(a - b == doctest::Approx(-2 * (sum(log_prob) / sum(asked)).item()).epsilon(1e-3));
  CHECK(first.mean != -2);
  CHECK(none.mean == 0);
}
