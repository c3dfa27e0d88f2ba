#pragma once

#include <span>
#include <string>
#include <vector>

/// Bench 4, two translators learn: one context vector against attention.
///
/// The two translators (two_translators.h) are part of the state of the program, because their training goes
/// on from call to call. Without a call of translators_learn they are untrained and of seed 1. `state` is the
/// number of a kept state, 0 to 31, or -1 for the present one.
namespace program {

/// Steps of training, a batch of 32 sentences each.
///
///   request  seed, step, steps (at most 100)
///   answer   the step reached, then for each step the loss with one context vector and with attention
///
/// Step 0 begins again, without what was kept, if a step was made since. Another must be the step reached. Errors: it
/// is not.
std::vector<float> translators_learn(std::span<const float> request);

/// Keeps a copy of the present state.
///
///   request  number, 0 to 31
///   answer   the step of the copy
std::vector<float> translators_keep(std::span<const float> request);

/// Begins again at step 0 with seed 1, but with parameters that the native program learned.
///
///   request  bytes of TwoTranslators::packed() as a text; none: no training
///   answer   count of bytes
std::vector<float> translators_load(std::span<const float> request);

/// Counts translations without a mistake among sentences that were never trained on.
///
///   request  state
///   answer   count of lengths, and for each: tokens of the source, sentences, exact translations with one
///   context
///            vector, exact translations with attention
std::vector<float> translators_score(std::span<const float> request);

/// A translation by the most probable word at every step. Punctuation at the end of the text is left out.
///
///   request  state, 0 for one context vector or 1 for attention, text, count of forbidden cells, and for
///   each:
///            number of the translation's token, number of the source's token (from 0)
///   answer   count of unknown tokens, and each (a text); if there are none:
///            count of the translation's tokens, and each (a text), "<eos>" at the end
///            count of the source's tokens, and each (a text)
///            with attention: weights, a row for each token of the translation
///
/// Errors: no text, or more than 40 tokens; a cell outside the source; a state that is not kept.
std::vector<float> translators_translate(std::span<const float> request);

/// What translators_load() takes: the parameters of the present state.
std::string translators_packed();

/// The first requests of the page: one step of training, and 我爱中国 by the present state.
std::vector<float> translators_learn_first();
std::vector<float> translators_keep_first();
std::vector<float> translators_load_first();
std::vector<float> translators_score_first();
std::vector<float> translators_translate_first();

}  // namespace program
