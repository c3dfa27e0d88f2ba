#include "nn/text/sample.h"

#include <cmath>
#include <numeric>

namespace heed {

int64_t sample(const Tensor& logits, Generator& generator, const SampleOptions& options) {
  const auto [temperature, top_k, top_p] = options;
  check(temperature >= 0 && std::isfinite(temperature) && top_k >= 0 && top_p > 0 && top_p <= 1,
        "sample: temperature ", temperature, ", top_k ", top_k, ", top_p ", top_p,
        "; temperature and top_k must not be negative, top_p must lie in (0, 1]");
  check(logits.dim() == 1 && logits.numel() > 0 && is_floating(logits.dtype()), "sample: the logits are ",
        logits.shape(), " of ", logits.dtype(), "; they must be floating [V], of one position");
  const std::vector<double> scores = logits.to_vector();
  for (size_t i = 0; i < scores.size(); ++i)
    check(scores[i] < INFINITY, "sample: logit ", i, " is ", scores[i]);

  std::vector<int64_t> order(scores.size());  // the most probable first
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](int64_t i) { return scores[i]; };
  std::ranges::stable_sort(order, std::greater{}, score);
  const double largest = score(order[0]);
  check(largest > -INFINITY, "sample: every logit is -inf; one token must be possible");
  if (temperature == 0) return order[0];
  if (top_k > 0 && top_k < std::ssize(order)) order.resize(static_cast<size_t>(top_k));

  std::vector<double> sums;  // cumulative sums of the unnormalized probabilities
  double sum = 0;
  for (const int64_t i : order) sums.push_back(sum += std::exp((score(i) - largest) / temperature));
  const int64_t reaches_top_p = std::ranges::lower_bound(sums, top_p * sum) - sums.begin();
  const double u = generator.uniform() * sums[std::min<int64_t>(reaches_top_p, std::ssize(sums) - 1)];
  return order[std::ranges::upper_bound(sums, u) - sums.begin()];
}

}  // namespace heed
