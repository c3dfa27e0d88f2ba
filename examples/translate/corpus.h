#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/text/tokenise.h"
#include "tensor/random.h"

namespace program {

/// A sentence and its translation.
struct Pair {
  std::string source, target;
  bool operator==(const Pair&) const = default;
};

/// Chinese sentences of 3 to 16 characters with their English translation, `count` distinct ones of a small
/// grammar. The languages order their words differently:
///
///   who  when  with whom  where  does  what        我 昨天 和他 在北京 吃了 苹果
///   who  did   what  with whom   where  when       I ate an apple with him in Beijing yesterday
///
/// and say differently what is counted (三本书, three books; 两杯茶, two cups of tea), asked (你喜欢茶吗, Do
/// you like tea? 他去哪里, Where does he go?), denied (我没去, I did not go), past (了) or to come (明天).
/// What Chinese leaves open is settled so that a translation is a function of the sentence: a thing without
/// number or pointer is one (苹果: an apple), unless it is loved or liked (apples); 一 is "one"; 什么时候
/// asks for the future.
std::vector<Pair> generate_corpus(heed::Generator& generator, int64_t count = 6000);

constexpr int64_t kLongestSentence = 200;  // attention in a batch of such still fits in memory

/// Reads a file of pairs: on each line a sentence, a tab, its translation. UTF-8, with or without a byte
/// order mark, lines ended by LF or CRLF; empty lines are passed over, repeated pairs taken once. Throws
/// heed::Error naming the file and all lines that are wrong (BadRows), unless they are to be skipped, which
/// `skipped` counts; fewer than 10 pairs are too few, and more than kLongestSentence words or characters in a
/// sentence too many.
std::vector<Pair> read_pairs(const std::string& path, bool skip_bad = false, int64_t* skipped = nullptr);

/// Chinese by characters, English by words; a sentence that is mixed is taken for what it begins with.
heed::Tokens tokenise(const std::string& sentence);
/// The inverse: spaces between words, none between characters.
std::string join(const heed::Tokens& tokens);

struct Split {
  std::vector<Pair> train, test;
};
/// Divides the pairs: no sentence of the test is in training, but each of its words is, at least five times.
/// 我爱中国 and 我昨天在北京吃了苹果 are always of the test. The test is test_share of all, or less if words
/// are rare.
Split split(const std::vector<Pair>& pairs, uint64_t seed, double test_share = 0.1);

}  // namespace program
