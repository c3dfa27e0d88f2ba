#include "nn/text/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

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

  // The most probable first.
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](int64_t i) { return scores[static_cast<size_t>(i)]; };
  std::ranges::stable_sort(order, std::greater{}, score);
  const double most = score(order[0]);
  check(most > -INFINITY, "sample: every logit is -inf; one token must be possible");
  if (temperature == 0) return order[0];
  if (top_k > 0 && top_k < std::ssize(order)) order.resize(static_cast<size_t>(top_k));

  std::vector<double> sums;  // of the probabilities up to each, times what they all sum to
  double sum = 0;
  for (const int64_t i : order) sums.push_back(sum += std::exp((score(i) - most) / temperature));
  const auto first_at = [&](double wanted) { return std::ranges::lower_bound(sums, wanted) - sums.begin(); };
  const auto kept = std::min<int64_t>(first_at(top_p * sum), std::ssize(sums) - 1);
  const double u = generator.uniform() * sums[static_cast<size_t>(kept)];
  return order[static_cast<size_t>(std::ranges::upper_bound(sums, u) - sums.begin())];
}

}  // namespace heed
