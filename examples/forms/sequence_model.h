#pragma once

#include <optional>

#include "examples/forms/form_list.h"
#include "examples/forms/tasks.h"

/// A small causal transformer with one form of attention, its training and its test.
namespace program {

/// Embeddings, layers of attention and feed-forward parts, and an answer at each position.
///
/// All forms have the same number of parameters in a layer as plain attention with a feed-forward part of
/// width 64, up to one unit: what a form adds or saves, its feed-forward part gives or gets.
struct SequenceModel : heed::Layer<SequenceModel> {
  SequenceModel(const Form& form, const Task& task);

  /// int64 [B, T] -> logits [B, T, classes]; of a task that points, log-probabilities of positions [B, T, T].
  heed::Tensor forward(const heed::Tensor& ids) const;
  /// The inputs of the attention of the last layer, [B, T, E].
  heed::Tensor before_last(const heed::Tensor& ids) const;

  void visit(heed::Visitor& v) override {
    v("symbols", symbols);
    v("positions", positions);
    v("layers", layers);
    v("norm", norm);
    v("answer", answer);
    v("pointer", pointer);
  }

  static constexpr int64_t kWidth = 32, kHeads = 4, kFeedForward = 64;

  FormPositions kind;
  heed::Embedding symbols;
  std::optional<heed::LearnedPosition> positions;
  std::vector<heed::TransformerEncoderLayer> layers;
  heed::LayerNorm norm;
  std::optional<heed::Linear> answer;
  std::optional<heed::Pointer<heed::BilinearScore>> pointer;
  std::shared_ptr<HardChoices> choices;  ///< of sampled attention; otherwise empty

 private:
  heed::Tensor embed(const heed::Tensor& ids) const;
};

/// How well a form does a task.
struct Trained {
  std::string form, task;
  int64_t parameters = 0;
  double accuracy = 0, loss = 0;  ///< at the length of training
  double longer_accuracy = NAN,
         longer_loss = NAN;  ///< at the longer one, and only beyond the length of training
  int64_t steps = 0;
  double seconds = 0;  ///< of all steps of training
  /// The step after which the mean loss of ten steps was at most half of that of the first ten; 0: none.
  int64_t halved_after = 0;
};

/// The loss of one batch.
struct FormLoss {
  heed::Tensor answers;  ///< the mean of all questions
  heed::Tensor total;    ///< the same, and with sampled attention the loss of its choices
};
/// The reward of a choice is the log-likelihood of the answer to the same position.
FormLoss loss_of(const SequenceModel& model, const TaskBatch& batch, const Form& form,
                 heed::RewardBaseline& baseline);

/// Trains a model by Adam, `batch` sequences a step. `on_step` gets the loss of each step.
Trained train_form(SequenceModel& model, const Form& form, const Task& task, int64_t steps,
                   const std::function<void(double loss)>& on_step = {});

}  // namespace program
