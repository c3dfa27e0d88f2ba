#pragma once

#include <heed.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// The forms of attention that the program compares.
namespace program {

/// What a layer of sampled attention leaves for its loss: the log-probability of each choice, [B, H, T].
struct HardChoices {
  heed::Tensor log_prob;
};

/// The layer that a form is for. Its width is divided by its number of heads.
struct FormPlace {
  int64_t width = 32, heads = 4;
  int64_t layer = 0, layers = 1;
  std::shared_ptr<HardChoices> choices = {};  ///< where sampled attention leaves its choices
};

/// What is added to the embeddings of the symbols.
enum class FormPositions { none, learned, sinusoidal };

/// One form of attention: an entry in the list.
struct Form {
  std::string name;
  std::string sentence;  ///< in what it differs
  /// The options of MultiheadAttention that make it.
  std::function<heed::MultiheadAttentionOptions(const FormPlace&)> options;
  FormPositions positions = FormPositions::none;
  double time = 2, memory = 1;  ///< exponents of T in theory, of training: without a cache, with gradients
  bool reinforced = false;      ///< trained by REINFORCE
  bool baseline = false;        ///< with a baseline
};

/// All forms. Causal attention without an option of its own has rotary positions.
const std::vector<Form>& all_forms();

/// The form of this name. Throws for another name, and lists those that there are.
const Form& find_form(const std::string& name);

/// A normaliser that samples one key for each query and keeps the log-probability. Without gradients, in
/// evaluation, it takes the key with the largest score.
struct SampledNormaliser {
  heed::Tensor operator()(const heed::Tensor& scores, const heed::Mask& mask) const;

  std::shared_ptr<HardChoices> choices;
};

}  // namespace program
