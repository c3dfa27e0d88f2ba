#include "examples/g2p/lexicon.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "nn/files/text_file.h"
#include "nn/text/metrics.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

using heed::check, heed::Tokens, heed::trim;

namespace program {
namespace {

// The pieces of a text between separators, the last one too.
std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> found;
  while (true) {
    const size_t end = text.find(separator);
    found.push_back(text.substr(0, end));
    if (end == text.npos) return found;
    text.remove_prefix(end + 1);
  }
}

Tokens phones_of(std::string_view text) {
  Tokens phones;
  for (const std::string_view phone : pieces(text, ' '))
    if (!phone.empty()) phones.emplace_back(phone);
  for (const std::string& phone : phones)
    check(phone != "<pad>" && phone != "<bos>" && phone != "<eos>" && phone != "<unk>", phone,
          " is no phone here: models use it for themselves");
  const auto count = std::ssize(phones);
  check(count > 0, "a pronunciation is empty");
  check(count <= kLongestWord, "a pronunciation has ", count, " phones; at most ", kLongestWord,
        " are taken");
  return phones;
}

// A line of a file: a word and its pronunciations.
Entry parse_entry(std::string_view line) {
  heed::check_utf8("the line", line);
  check(line.find('\0') == line.npos, "contains a zero byte");
  check(line.find('\r') == line.npos, "contains a carriage return; lines end in LF or CRLF");
  const std::vector<std::string_view> columns = pieces(line, '\t');
  check(columns.size() > 1, "has no tab; a line is a word, a tab, its phones with spaces between them");
  const std::string word(trim(columns[0]));
  Entry entry{word, letters_of(word), {}};
  const auto count = std::ssize(entry.letters);
  check(count > 0, "the word before the tab is empty");
  check(count <= kLongestWord, "the word has ", count, " letters; at most ", kLongestWord, " are taken");
  for (size_t i = 1; i < columns.size(); ++i) entry.sounds.push_back(phones_of(columns[i]));
  return entry;
}

}  // namespace

Tokens letters_of(const std::string& word) {
  constexpr uint32_t kFirst = 0xAC00, kLast = 0xD7A3, kLead = 0x1100, kVowel = 0x1161, kTail = 0x11A7;
  constexpr uint32_t kVowels = 21, kTails = 28;
  Tokens letters;
  for (const std::string& character : heed::split_characters(word, true)) {
    const uint32_t code = heed::first_character(character).code;
    if (code < kFirst || code > kLast) {
      letters.push_back(character);
      continue;
    }
    const uint32_t syllable = code - kFirst, tail = syllable % kTails;
    letters.push_back(heed::utf8(kLead + syllable / kTails / kVowels));
    letters.push_back(heed::utf8(kVowel + syllable / kTails % kVowels));
    if (tail > 0) letters.push_back(heed::utf8(kTail + tail));
  }
  return letters;
}

std::vector<Entry> read_lexicon(const std::string& path, bool skip_bad, int64_t* skipped) {
  std::vector<Entry> entries;
  std::unordered_map<std::string, size_t> places;
  const int64_t count = heed::each_line(path, skip_bad, [&](std::string_view line) {
    Entry read = parse_entry(line);
    const auto [place, fresh] = places.try_emplace(read.word, entries.size());
    if (fresh) entries.push_back({read.word, std::move(read.letters), {}});
    std::vector<Tokens>& known = entries[place->second].sounds;
    for (Tokens& sound : read.sounds)
      if (std::ranges::find(known, sound) == known.end()) known.push_back(std::move(sound));
  });
  if (skipped) *skipped += count;
  check(!entries.empty(), path,
        ": has no words; a line is a word, a tab, its phones with spaces between them");
  return entries;
}

std::vector<Entry> sampled(std::vector<Entry> entries, int64_t count) {
  const auto all = std::ssize(entries);
  if (count == 0 || count >= all) return entries;
  std::vector<Entry> sample;
  for (int64_t i = 0; i < count; ++i)
    sample.push_back(std::move(entries[static_cast<size_t>(i * all / count)]));
  return sample;
}

bool PhoneScore::add(const Entry& entry, const Tokens& answer) {
  std::pair<int64_t, int64_t> nearest = {INT64_MAX, 0};  // edits, and the length below 0
  for (const Tokens& sound : entry.sounds)
    nearest = std::min(nearest, {heed::edit_distance(answer, sound), -std::ssize(sound)});
  ++words;
  wrong += nearest.first > 0;
  edits += nearest.first;
  phones -= nearest.second;
  return nearest.first == 0;
}

}  // namespace program
