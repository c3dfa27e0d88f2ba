#include "examples/translate/corpus.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "nn/files/text_file.h"
#include "tensor/create.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace program {
namespace {

using heed::Tokens, heed::trim;

const Pair kHeldOut[] = {{"我爱中国", "I love China"},
                         {"我昨天在北京吃了苹果", "I ate an apple in Beijing yesterday"}};

// Whether a text is of a language that is written without spaces: Chinese, Japanese.
bool has_characters(std::string_view text) {
  while (!text.empty()) {
    const auto [code, size] = heed::first_character(text);
    if (code >= 0x2E80 && code < 0xAC00) return true;
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return false;
}

}  // namespace

std::span<const Pair> held_out_pairs() { return kHeldOut; }

Tokens tokenise(const std::string& sentence) {
  return has_characters(sentence) ? heed::split_characters(sentence) : heed::split_words(sentence);
}

std::string join(const Tokens& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return has_characters(text) ? text : heed::join_words(tokens);
}

namespace {

// A line of a file of pairs.
Pair parse_pair(std::string_view line) {
  heed::check_utf8("the line", line);
  const size_t tab = line.find('\t');
  heed::check(tab != line.npos, "has no tab; a line is a sentence, a tab, its translation");
  heed::check(line.find('\t', tab + 1) == line.npos,
              "has more than one tab; a line is a sentence, a tab, its translation");
  Pair pair{std::string(trim(line.substr(0, tab))), std::string(trim(line.substr(tab + 1)))};
  for (const bool before : {true, false}) {
    const auto count = std::ssize(tokenise(before ? pair.source : pair.target));
    const char* what = before ? "the sentence before the tab " : "the translation after the tab ";
    heed::check(count > 0, what, "is empty");
    heed::check(count <= kLongestSentence, what, "has ", count, " words or characters, and at most ",
                kLongestSentence, " are taken");
  }
  return pair;
}

}  // namespace

std::vector<Pair> read_pairs(const std::string& path, bool skip_bad, int64_t* skipped) {
  std::vector<Pair> pairs;
  std::unordered_set<std::string> known;
  const int64_t count = heed::each_line(path, skip_bad, [&](std::string_view line) {
    Pair pair = parse_pair(line);
    if (known.insert(pair.source + '\t' + pair.target).second) pairs.push_back(std::move(pair));
  });
  if (skipped) *skipped = count;
  heed::check(pairs.size() >= 10, path, ": has ", pairs.size(),
              " different pairs; at least 10 are needed to train and to test");
  return pairs;
}

std::vector<heed::Tokens> sides(const std::vector<Pair>& pairs, std::string Pair::*side) {
  std::vector<heed::Tokens> all;
  for (const Pair& pair : pairs) all.push_back(tokenise(pair.*side));
  return all;
}

std::vector<heed::Ids> encoded(const heed::Vocabulary& vocabulary,
                               const std::vector<heed::Tokens>& sentences) {
  std::vector<heed::Ids> all;
  for (const heed::Tokens& tokens : sentences) all.push_back(vocabulary.encode(tokens));
  return all;
}

Split split(const std::vector<Pair>& pairs, uint64_t seed, double test_share) {
  heed::check(test_share >= 0 && test_share < 1, "split: test_share is ", test_share, "; it lies in [0, 1)");
  // The number of sentences with each word. Source words and target words are told apart by their side.
  using Words = std::vector<std::pair<bool, std::string>>;
  std::map<Words::value_type, int64_t> left;
  std::unordered_map<std::string, int64_t> translations;
  std::vector<Words> words_of;
  for (const Pair& pair : pairs) {
    Words found;
    for (const std::string& word : tokenise(pair.source)) found.emplace_back(false, word);
    for (const std::string& word : tokenise(pair.target)) found.emplace_back(true, word);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    for (const auto& word : found) ++left[word];
    words_of.push_back(std::move(found));
    ++translations[pair.source];
  }

  heed::Generator random(seed);
  const auto n = static_cast<int64_t>(pairs.size());
  std::vector<int64_t> order = heed::randperm(n, &random).to_vector<int64_t>();
  const auto at = [&](int64_t i) -> const Pair& { return pairs[static_cast<size_t>(i)]; };
  const auto held_out = [&](int64_t i) { return std::ranges::count(held_out_pairs(), at(i)) > 0; };
  std::stable_partition(order.begin(), order.end(), held_out);
  const auto wanted = static_cast<size_t>(test_share * static_cast<double>(n));
  Split parts;
  for (const int64_t i : order) {
    const Words& words = words_of[static_cast<size_t>(i)];
    const bool common = std::all_of(words.begin(), words.end(), [&](const auto& w) { return left[w] > 5; });
    const bool test =
        (parts.test.size() < wanted && common && translations[at(i).source] == 1) || held_out(i);
    (test ? parts.test : parts.train).push_back(at(i));
    if (test)
      for (const auto& word : words) --left[word];
  }
  return parts;
}

}  // namespace program
