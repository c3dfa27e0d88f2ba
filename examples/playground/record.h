#pragma once

#include <cstdint>
#include <string>

/// What the page shows of a training before the reader lets the translators learn.
namespace program {

/// A training of the two translators from seed 1, as JSON:
///
///   seed, every    the seed, and how many steps are in a mean of `losses`
///   losses         mean losses of both, a pair for each
///   states         for each state: step; score, the answer of translators_score; translations, the answers
///   of
///                  translators_translate for each of `texts`, with one context vector and with attention
///   texts          sentences that were not trained on: source and target
///   packed         the last state, TwoTranslators::packed() as base64
///
/// Ends at the state of step `last` at most. Takes some seconds.
std::string recorded_training(int64_t last = 800);

}  // namespace program
