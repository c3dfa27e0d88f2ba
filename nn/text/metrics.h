#pragma once

#include <array>
#include <cstdint>

#include "nn/text/tokenise.h"

/// How near a translation is to its reference.
namespace heed {

/// What bleu gives.
struct Bleu {
  double score;                      ///< in [0, 1]
  std::array<double, 4> precisions;  ///< of n-grams, n = 1 to 4
  double brevity_penalty;            ///< exp(min(0, 1 - r / c))
};
/// How much candidates share with their references, over a whole corpus (Papineni et al., 2002):
///
///   p_n    = (sum of min(count, most)) / (sum of count)
///   score  = exp(min(0, 1 - r / c)) (p_1 p_2 p_3 p_4)^(1/4)
///
/// The sums are over the n-grams of all candidates: `count` is how often the candidate has one, `most` the
/// most that one of its references has it. c is the length of all candidates, r that of all references (the
/// closest to the candidate, the shorter of two, where there are several). A p_n without n-grams is 0, and so
/// is the score where one of them is 0; `smooth` adds one to both sums of p_n for n > 1, for single
/// sentences. Errors: another number of references than of candidates.
Bleu bleu(const std::vector<Tokens>& candidates, const std::vector<Tokens>& references, bool smooth = false);
/// The same with several references for each candidate, at least one.
Bleu bleu(const std::vector<Tokens>& candidates, const std::vector<std::vector<Tokens>>& references,
          bool smooth = false);

/// The share of candidates that equal their reference; 0 of none.
double exact_match(const std::vector<Tokens>& candidates, const std::vector<Tokens>& references);

/// The fewest tokens to insert, delete or replace that make `b` of `a` (Levenshtein).
int64_t edit_distance(const Tokens& a, const Tokens& b);

}  // namespace heed
