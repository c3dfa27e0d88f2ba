#pragma once

#include <cstdint>
#include <string>

/// The advice after a training whose model predicts worse than counting does.
namespace program {

constexpr double kMinutesOfLarger = 10;  ///< from which on the larger model is the default
constexpr int64_t kEnoughSteps = 500;    ///< to predict far better than the frequencies of the tokens

/// What models need for each byte of a text.
struct BitsPerByte {
  double unigram, five_gram, model;
};
/// A training that has ended.
struct PastTraining {
  int64_t steps;
  double minutes;  ///< 0 if the steps were given
  bool larger;     ///< the larger model
  bool own_text;   ///< a text of the user
};

/// Says that counting predicts better, and which training would do. Returns "" if the model predicts best.
std::string counting_advice(const BitsPerByte& bits, const PastTraining& training);

}  // namespace program
