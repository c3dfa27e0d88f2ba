#include "examples/forms/scaling.h"

#include <algorithm>
#include <chrono>

#include "examples/complexity/growth.h"

namespace program {

using namespace heed;

FormScaling measure_scaling(const Form& form, const std::vector<int64_t>& lengths, int64_t repeats) {
  const FormPlace place{.choices = std::make_shared<HardChoices>()};
  const MultiheadAttention attention(place.width, place.heads, form.options(place));
  FormScaling result;
  for (const int64_t T : lengths) {
    const Tensor x = randn({1, T, place.width}).requires_grad_();
    double least = INFINITY;
    reset_peak_memory();
    const size_t before = memory_use().live;
    for (int64_t i = 0; i < repeats; ++i) {
      const auto start = std::chrono::steady_clock::now();
      sum(attention(x, AttentionOptions{.is_causal = true}).output).backward();
      least =
          std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      place.choices->log_prob = {};
    }
    result.seconds.push_back(least);
    result.bytes.push_back(static_cast<double>(memory_use().peak - before));
  }
  result.time = exponent(lengths, result.seconds);
  result.memory = exponent(lengths, result.bytes);
  return result;
}

}  // namespace program
