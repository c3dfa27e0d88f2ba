#pragma once

#include <span>
#include <vector>

/// Bench 7, your model: a small transformer learns which character comes next in the reader's own text.
///
/// The model is part of the state of the program: its training goes on from call to call, and begins with
/// model_begin.
namespace program {

/// A text to begin with: sentences of the grammar of the program translate, a line each.
///
///   request  0 for English, 1 for Chinese
///   answer   the text
std::vector<float> model_sample(std::span<const float> request);

/// Begins a model for a text. The last tenth of the text is held out: the model does not learn from it.
///
///   request  seed, text
///   answer   count of characters, count of different ones, count of parameters
///
/// Errors: a text that is not UTF-8, has fewer than 600 characters or more than 1000 different ones.
std::vector<float> model_begin(std::span<const float> request);

/// Steps of training: the model predicts each next character in 8 windows of 49 characters at random places.
///
///   request  step, steps (at most 100)
///   answer   the step reached; bits per character of the held-out text before these steps; then of each
///            step, bits per character of its windows
///
/// Step 0 begins again; another must be the step reached. Errors: it is not; no model has begun.
std::vector<float> model_learn(std::span<const float> request);

/// Writes on from a beginning: each character is drawn with the probability that the model gives it after at
/// most 48 before it.
///
///   request  seed, temperature, count (at most 400), beginning (a text)
///   answer   count of characters, those of the beginning included, and each (a text);
///            for each that was written: count of characters that the model saw, and the attention weight of
///            each, the mean of the heads of the last layer
///
/// Characters of the beginning that the model does not know are left out; without any it begins with a line
/// break, which is part of the answer. Errors: no model has begun; a negative temperature.
std::vector<float> model_write(std::span<const float> request);

/// The first requests of the page.
std::vector<float> model_sample_first();
std::vector<float> model_begin_first();
std::vector<float> model_learn_first();
std::vector<float> model_write_first();

}  // namespace program
