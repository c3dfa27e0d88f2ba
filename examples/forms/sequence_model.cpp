#include "examples/forms/sequence_model.h"

#include <chrono>

#include "examples/shared/training.h"

namespace program {
namespace {

using namespace heed;

constexpr int64_t kBatch = 32, kTestBatch = 256;
constexpr double kRate = 5e-3, kWarmUp = 50;

int64_t plain_parameters(int64_t width) {
  return MultiheadAttention(width, SequenceModel::kHeads).parameter_count();
}

// The width of a feed-forward part, of 2 E + 1 parameters a unit, that makes up for what the attention has
// more or less than the plain one.
int64_t feed_forward_width(const MultiheadAttentionOptions& options) {
  constexpr int64_t E = SequenceModel::kWidth;
  const int64_t more =
      MultiheadAttention(E, SequenceModel::kHeads, options).parameter_count() - plain_parameters(E);
  return std::max<int64_t>(1, SequenceModel::kFeedForward - more / (2 * E + 1));
}

int64_t longest(const Task& task) {
  manual_seed(0);
  return task.draw(1, std::max(task.size, task.longer), true).ids.size(1);
}

// Answers and how they compare, at positions from `first` on.
struct Tested {
  double accuracy, loss;
};
Tested test_form(const SequenceModel& model, const Task& task, int64_t size, int64_t first) {
  const NoGrad guard;
  const auto [ids, targets] = task.draw(kTestBatch, size, true);
  const int64_t T = ids.size(1);
  const Tensor y = narrow(model(ids), 1, first, T - first), wanted = narrow(targets, 1, first, T - first);
  const Tensor asked = to(wanted != kNotAsked, float64);
  const Tensor right = asked * to(argmax(y, -1) == wanted, float64);
  const Tensor loss = task.points ? F::nll_loss(y, wanted, {.class_dim = -1})
                                  : F::cross_entropy(y, wanted, {.class_dim = -1});
  return {sum(right).item() / sum(asked).item(), loss.item()};
}

int64_t halved_after(const std::vector<double>& losses) {
  constexpr int64_t n = 10;
  double first = 0, last = 0;
  for (int64_t i = 0; i < std::ssize(losses); ++i) {
    const auto loss = [&](int64_t step) { return losses[static_cast<size_t>(step)]; };
    if (i < n) first += loss(i);
    last += loss(i) - (i < n ? 0 : loss(i - n));
    if (i >= n && last <= first / 2) return i + 1;
  }
  return 0;
}

}  // namespace

SequenceModel::SequenceModel(const Form& form, const Task& task)
    : kind(form.positions), symbols(task.symbols, kWidth), norm(kWidth) {
  if (form.reinforced) choices = std::make_shared<HardChoices>();
  if (kind == FormPositions::learned) positions.emplace(longest(task), kWidth);
  for (int64_t layer = 0; layer < task.layers; ++layer) {
    const MultiheadAttentionOptions options = form.options({kWidth, kHeads, layer, task.layers, choices});
    layers.emplace_back(kWidth, kHeads,
                        TransformerOptions{.dim_feedforward = feed_forward_width(options),
                                           .dropout = 0,
                                           .norm_first = true,
                                           .self_attention = options});
  }
  if (task.points)
    pointer.emplace(BilinearScore(kWidth, kWidth));
  else
    answer.emplace(kWidth, task.classes);
}

Tensor SequenceModel::embed(const Tensor& ids) const {
  const Tensor x = symbols(ids);
  if (positions) return (*positions)(x);
  return kind == FormPositions::sinusoidal ? SinusoidalPosition(kWidth)(x) : x;
}

Tensor SequenceModel::forward(const Tensor& ids) const {
  Tensor x = embed(ids);
  for (const TransformerEncoderLayer& layer : layers) x = layer(x, AttentionOptions{.is_causal = true});
  x = norm(x);
  return pointer ? (*pointer)(x, x, Mask::causal(ids.size(1))) : (*answer)(x);
}

Tensor SequenceModel::before_last(const Tensor& ids) const {
  Tensor x = embed(ids);
  for (size_t i = 0; i + 1 < layers.size(); ++i) x = layers[i](x, AttentionOptions{.is_causal = true});
  return layers.back().norm1(x);
}

FormLoss loss_of(const SequenceModel& model, const TaskBatch& batch, const Form& form,
                 RewardBaseline& baseline) {
  const CrossEntropyOptions each{.reduction = Reduction::none, .class_dim = -1};
  const Tensor y = model(batch.ids);
  const Tensor asked = to(batch.targets != kNotAsked, y.dtype());
  const Tensor losses =
      model.pointer ? F::nll_loss(y, batch.targets, each) : F::cross_entropy(y, batch.targets, each);
  const Tensor share = mean(asked), loss = mean(losses) / share;
  if (!form.reinforced) return {loss, loss};
  // The choices of the last layer at a position decide about the answer there.
  const double expected = form.baseline ? baseline(-loss.detach()) : 0;
  const Tensor log_prob = sum(model.choices->log_prob, 1);  // of all heads together
  return {loss, loss + F::reinforce_loss(log_prob * asked, -losses.detach(), expected) / share};
}

Trained train_form(SequenceModel& model, const Form& form, const Task& task, int64_t steps,
                   const std::function<void(double loss)>& on_step) {
  Adam adam(model.parameters(), {.lr = kRate});
  LambdaLR schedule(
      adam, [&](int64_t t) { return warm_and_fall(t, steps, std::min(kWarmUp, 0.1 * double(steps))); });
  RewardBaseline baseline;
  std::vector<double> losses;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t step = 0; step < steps; ++step) {
    adam.zero_grad();
    const FormLoss loss = loss_of(model, task.draw(kBatch, task.size, false), form, baseline);
    loss.total.backward();
    clip_grad_norm_(model.parameters(), 1);
    adam.step();
    schedule.step();
    losses.push_back(loss.answers.item());
    if (on_step) on_step(losses.back());
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  Trained result{.form = form.name, .task = task.name, .parameters = model.parameter_count()};
  result.steps = steps;
  result.seconds = taken.count();
  result.halved_after = halved_after(losses);
  const Tested test = test_form(model, task, task.size, 0);
  result.accuracy = test.accuracy;
  result.loss = test.loss;
  if (task.longer > 0) {
    const int64_t first = task.draw(1, task.size, true).ids.size(1);
    const Tested longer = test_form(model, task, task.longer, first);
    result.longer_accuracy = longer.accuracy;
    result.longer_loss = longer.loss;
  }
  return result;
}

}  // namespace program
