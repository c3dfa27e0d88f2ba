#pragma once

#include <array>
#include <cstdint>

#include "nn/text/tokenise.h"

/// How close translations are to their references.
namespace heed {

/// The result of bleu.
struct Bleu {
  double score;                      ///< in [0, 1]
  std::array<double, 4> precisions;  ///< p_n of the n-grams, n = 1 to 4
  double brevity_penalty;            ///< exp(min(0, 1 - r / c))
};
/// Measures how many n-grams candidates share with their references, over a whole corpus (Papineni et al.,
/// 2002):
///
///   p_n    = (sum of min(count, max_count)) / (sum of count)
///   score  = exp(min(0, 1 - r / c)) (p_1 p_2 p_3 p_4)^(1/4)
///
/// The sums run over the n-grams of all candidates. `count` is the number of occurrences of an n-gram in its
/// candidate, and max_count the largest number in one of the references. c is the total length of the
/// candidates, and r the total length of their references. Among several references, r uses the one whose
/// length is closest to the candidate's, and the shorter one in a tie. p_n is 0 if there are no n-grams, and
/// the score is 0 if a p_n is 0. `smooth` adds 1 to both sums for n > 1, for single sentences. Throws if the
/// numbers of candidates and references differ.
Bleu bleu(const std::vector<Tokens>& candidates, const std::vector<Tokens>& references, bool smooth = false);
/// The same with one or more references for each candidate.
Bleu bleu(const std::vector<Tokens>& candidates, const std::vector<std::vector<Tokens>>& references,
          bool smooth = false);

/// The fraction of candidates that equal their reference; 0 if there are none.
double exact_match(const std::vector<Tokens>& candidates, const std::vector<Tokens>& references);

/// The minimal number of insertions, deletions and replacements that turn `a` into `b` (Levenshtein).
int64_t edit_distance(const Tokens& a, const Tokens& b);

}  // namespace heed
