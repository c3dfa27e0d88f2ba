#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nn/text/tokenise.h"
#include "nn/text/vocabulary.h"

namespace program {

/// A sentence and its translation.
struct Pair {
  std::string source, target;
  bool operator==(const Pair&) const = default;
};

/// 我爱中国 and 我昨天在北京吃了苹果, which are never trained on.
std::span<const Pair> held_out_pairs();

constexpr int64_t kLongestSentence = 200;  // attention in a batch of such sentences fits in memory

/// Reads a file of pairs: on each line a sentence, a tab, its translation, in UTF-8. Empty lines are ignored,
/// and repeated pairs are read once. Throws one error with all lines that cannot be used (heed::BadRows),
/// among them sentences of more than kLongestSentence words or characters, unless they are skipped, which
/// `skipped` counts. Throws if there are fewer than 10 pairs.
std::vector<Pair> read_pairs(const std::string& path, bool skip_bad = false, int64_t* skipped = nullptr);

/// The characters of a sentence with Chinese characters, and the words of others.
heed::Tokens tokenise(const std::string& sentence);
/// The inverse: with spaces between words, and without between characters.
std::string join(const heed::Tokens& tokens);

/// The tokens of one side of all pairs, such as &Pair::source.
std::vector<heed::Tokens> sides(const std::vector<Pair>& pairs, std::string Pair::*side);
/// The ids of all sentences.
std::vector<heed::Ids> encoded(const heed::Vocabulary& vocabulary,
                               const std::vector<heed::Tokens>& sentences);

struct Split {
  std::vector<Pair> train, test;
};
/// Divides the pairs: no sentence of the test is in training, but each of its words is, at least five times.
/// held_out_pairs() are always in the test. The test is test_share of all pairs, or less if words are rare.
Split split(const std::vector<Pair>& pairs, uint64_t seed, double test_share = 0.1);

}  // namespace program
