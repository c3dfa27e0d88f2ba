#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "nn/text/vocabulary.h"

/// What a table of counts can say about a text: the measure of models that learn.
namespace program {

/// The probability of a token after the tokens before it, from how often runs of up to five tokens were seen:
/// Kneser-Ney smoothing, interpolated (Chen and Goodman, 1999). With the context h of n - 1 tokens, h'
/// without its first token, and |h *| the number of different tokens seen after it:
///
///   p_n(w | h) = max(0, c(h w) - d) / c(h *) + d |h *| / c(h *) p_{n-1}(w | h')        p_0(w) = 1 /
///   vocabulary
///
/// c counts, for the longest runs, how often they were seen; for shorter ones, after how many different
/// tokens. The discount d = n1 / (n1 + 2 n2) is of the number of runs that count 1 and 2, but at least 0.1
/// and at most 0.9. A context that was never seen says nothing: p_n = p_{n-1}. For each context the
/// probabilities sum to 1.
class Ngram {
 public:
  static constexpr int64_t kLongest = 5, kMostIds = 4096;

  /// Counts runs of up to `order` ids of a text. Errors: an order outside of 1 to 5, a vocabulary outside of
  /// 1 to 4096, an id outside of the vocabulary.
  Ngram(const heed::Ids& ids, int64_t vocabulary, int64_t order = kLongest);

  /// p(token | context), of which the last order - 1 ids count.
  double probability(std::span<const int64_t> context, int64_t token) const;
  /// -log2 of the probability of a whole text, each token after those before it.
  double bits(const heed::Ids& ids) const;

 private:
  // Up to five ids of 12 bits are one number, the last id in the lowest bits.
  using Run = uint64_t;
  struct Context {
    int64_t sum = 0, kinds = 0;  // c(h *), |h *|
  };
  struct Order {
    std::unordered_map<Run, int64_t> counts;    // c(h w) by h w
    std::unordered_map<Run, Context> contexts;  // by h
    double discount = 0;
  };
  void check_id(int64_t id) const;

  int64_t vocabulary_;
  std::vector<Order> orders_;  // that of single ids first
};

}  // namespace program
