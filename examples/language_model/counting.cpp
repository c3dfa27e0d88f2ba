#include "examples/language_model/counting.h"

#include <algorithm>
#include <cmath>

#include "tensor/table.h"

namespace program {

std::string counting_advice(const BitsPerByte& bits, const PastTraining& training) {
  if (bits.model < std::min(bits.unigram, bits.five_gram)) return "";
  if (training.steps >= kEnoughSteps)
    return std::string("\nCounting still predicts better than the model; ") +
           (training.larger || training.own_text ? "a longer training may do better"
                                                 : "--minutes 60, with a larger model, would do") +
           ".\n";
  const double minutes =
      std::ceil(10 * training.minutes * kEnoughSteps / static_cast<double>(training.steps)) / 10;
  const bool timed = minutes > 0 && (minutes < kMinutesOfLarger || training.larger);
  return "\nThis training was too short, and counting predicts better than the model: " +
         (timed ? "--minutes " + heed::short_number(minutes) : "--steps " + std::to_string(kEnoughSteps)) +
         " would do much better.\n";
}

}  // namespace program
