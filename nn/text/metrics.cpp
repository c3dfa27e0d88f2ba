#include "nn/text/metrics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "tensor/lists.h"

namespace heed {

// The number of occurrences of each n-gram of a text.
static std::map<Tokens, int64_t> count_ngrams(const Tokens& text, int64_t n) {
  std::map<Tokens, int64_t> counts;
  for (auto first = text.begin(); text.end() - first >= n; ++first) ++counts[Tokens(first, first + n)];
  return counts;
}

static void check_pairs(const char* name, size_t candidates, size_t references) {
  check(candidates == references, name, ": ", candidates, " candidates for ", references,
        " references; each candidate needs one");
}

Bleu bleu(const std::vector<Tokens>& candidates, const std::vector<std::vector<Tokens>>& references,
          bool smooth) {
  check_pairs("bleu", candidates.size(), references.size());
  int64_t c = 0, r = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    check(!references[i].empty(), "bleu: candidate ", i, " has no reference");
    const int64_t length = std::ssize(candidates[i]);
    const auto closest = std::ranges::min_element(references[i], {}, [&](const Tokens& x) {
      return std::pair(std::abs(std::ssize(x) - length), std::ssize(x));
    });
    c += length;
    r += std::ssize(*closest);
  }

  Bleu result{0, {}, c == 0 ? 0 : std::exp(std::min(0.0, 1 - double(r) / double(c)))};
  double logs = 0;
  for (int64_t n = 1; n <= 4; ++n) {
    int64_t matches = smooth && n > 1 && c > 0 ? 1 : 0, total = matches;
    for (size_t i = 0; i < candidates.size(); ++i) {
      std::map<Tokens, int64_t> max_counts;
      for (const Tokens& reference : references[i])
        for (const auto& [ngram, count] : count_ngrams(reference, n))
          max_counts[ngram] = std::max(max_counts[ngram], count);
      for (const auto& [ngram, count] : count_ngrams(candidates[i], n)) {
        matches += std::min(count, max_counts[ngram]);
        total += count;
      }
    }
    const double precision = result.precisions[n - 1] = total == 0 ? 0 : double(matches) / double(total);
    logs += std::log(precision);
  }
  result.score = result.brevity_penalty * std::exp(logs / 4);  // 0 if a logarithm is -inf
  return result;
}

Bleu bleu(const std::vector<Tokens>& candidates, const std::vector<Tokens>& references, bool smooth) {
  const auto one = [](const Tokens& reference) { return std::vector<Tokens>{reference}; };
  return bleu(candidates, detail::mapped(references, one), smooth);
}

double exact_match(const std::vector<Tokens>& candidates, const std::vector<Tokens>& references) {
  check_pairs("exact_match", candidates.size(), references.size());
  double equal = 0;
  for (size_t i = 0; i < candidates.size(); ++i) equal += candidates[i] == references[i];
  return candidates.empty() ? 0 : equal / double(candidates.size());
}

int64_t edit_distance(const Tokens& a, const Tokens& b) {
  std::vector<int64_t> row(b.size() + 1);  // row[j]: distance of the first i tokens of a to the first j of b
  std::iota(row.begin(), row.end(), int64_t{0});
  for (const std::string& token : a) {
    int64_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j)
      diagonal = std::exchange(
          row[j], std::min({diagonal + (token == b[j - 1] ? 0 : 1), row[j] + 1, row[j - 1] + 1}));
  }
  return row.back();
}

}  // namespace heed
