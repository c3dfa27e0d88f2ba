#include "examples/language_model/text_tokens.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "nn/training/progress.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

using namespace heed;

namespace program {
namespace {

const std::string kReplacement = "\uFFFD";

// The pieces of BytePairs, of which long ones are cut.
constexpr const char* kPieces =
    R"( [A-Za-z_\x80-\xff]{1,59}[\x80-\xbf]{0,4}|[A-Za-z_\x80-\xff]{1,60}[\x80-\xbf]{0,4}|)"
    R"( [0-9]{1,59}|[0-9]{1,60}| [^\sA-Za-z_0-9\x80-\xff]{1,59}|[^\sA-Za-z_0-9\x80-\xff]{1,60}|)"
    R"(\s{1,59}(?= \S)|\s{1,60})";

// Calls f(code) for each character of a text that is UTF-8.
void each_character(std::string_view text, const auto& f) {
  check_utf8("Characters", text);
  while (!text.empty()) {
    const auto [code, size] = first_character(text);
    f(code);
    text.remove_prefix(size);
  }
}

// Whether bytes that are no character may be the first of one.
bool may_begin(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const size_t size = lead < 0xC2 || lead > 0xF4 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return bytes.size() < size && std::ranges::all_of(bytes.substr(1), [](char byte) {
           return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
         });
}

// Control characters, without tab and line feed.
constexpr CodeRange kObeyed[] = {{0, 0x8}, {0xB, 0x1F}, {0x7F, 0x9F}};
std::string shown(std::string_view character) {
  return within(kObeyed, first_character(character).code) ? printable(character) : std::string(character);
}

}  // namespace

Characters::Characters() : characters_{kReplacement} {}

Characters::Characters(std::string_view text, int64_t size) : Characters() {
  check(size >= 2, "Characters: size is ", size,
        "; it must be at least 2, for one character and the unknown");
  std::map<uint32_t, int64_t> counts;
  each_character(text, [&](uint32_t code) { ++counts[code]; });
  std::vector<std::pair<uint32_t, int64_t>> found(counts.begin(), counts.end());
  std::ranges::stable_sort(found, std::greater{}, &std::pair<uint32_t, int64_t>::second);
  for (const auto& [code, count] : found)
    if (this->size() < size) add(code);
}

void Characters::add(uint32_t code) {
  const bool added = ids_.emplace(code, size()).second;
  check(added, "Characters: ", printable(utf8(code)), " is there twice");
  characters_.push_back(utf8(code));
}

const std::string& Characters::token(int64_t id) const {
  check(id >= 0 && id < size(), "Characters: there is no id ", id, "; the ids are 0 to ", size() - 1);
  return characters_[static_cast<size_t>(id)];
}

Ids Characters::encode(std::string_view text) const {
  Ids ids;
  each_character(text, [&](uint32_t code) {
    const auto found = ids_.find(code);
    ids.push_back(found == ids_.end() ? 0 : found->second);
  });
  return ids;
}

std::string Characters::to_text() const {
  std::string text;
  for (int64_t id = 1; id < size(); ++id) text += token(id);
  return text;
}

Characters Characters::from_text(std::string_view text) {
  Characters read;
  each_character(text, [&](uint32_t code) { read.add(code); });
  return read;
}

const std::vector<std::string>& TextTokens::kinds() {
  static const std::vector<std::string> all = {kBytePairs, "characters"};
  return all;
}

TextTokens::TextTokens(const std::string& kind, std::string_view text, int64_t size)
    : tokens_(kind == "characters" ? Tokens(Characters(text, size)) : Tokens(BytePairs(text, size))) {}

TextTokens TextTokens::from_text(const std::string& kind, std::string_view text) {
  check(std::ranges::find(kinds(), kind) != kinds().end(), "the tokens are \"", kind,
        "\"; they must be byte-pairs or characters");
  return TextTokens(kind == "characters" ? Tokens(Characters::from_text(text))
                                         : Tokens(BytePairs::from_text(text)));
}

std::string TextTokens::kind() const { return kinds()[tokens_.index()]; }

std::string TextTokens::to_text() const {
  return std::visit([](const auto& tokens) { return tokens.to_text(); }, tokens_);
}

std::map<std::string, std::string> TextTokens::description() const {
  if (kind() != kBytePairs) return {{"tokens", kind()}, {"characters", kReplacement + to_text()}};
  return {{"tokens", kind()}, {"pairs", to_text()}, {"pieces", kPieces}};
}

int64_t TextTokens::size() const {
  return std::visit([](const auto& tokens) { return tokens.size(); }, tokens_);
}

Ids TextTokens::encode(std::string_view text) const {
  return std::visit([&](const auto& tokens) { return tokens.encode(text); }, tokens_);
}

const std::string& TextTokens::token(int64_t id) const {
  return std::visit([&](const auto& tokens) -> const std::string& { return tokens.token(id); }, tokens_);
}

double TextTokens::unknown_bits(const Ids& ids) const {
  if (!std::holds_alternative<Characters>(tokens_)) return 0;
  return static_cast<double>(std::ranges::count(ids, 0)) * std::log2(0x110000);
}

// The text is cut between a line feed and a letter, which no token contains.
Ids encode_long(const TextTokens& tokens, std::string_view text) {
  constexpr size_t kPart = 1 << 25;
  Progress progress("encoding the text", std::ssize(text));
  Ids ids;
  for (size_t end = 0, begin = 0; begin < text.size(); begin = end) {
    const auto cuts = [&] {
      return text[end - 1] == '\n' && std::isalpha(static_cast<unsigned char>(text[end]));
    };
    for (end = std::min(begin + kPart, text.size()); end < text.size() && !cuts();) ++end;
    std::ranges::copy(tokens.encode(text.substr(begin, end - begin)), std::back_inserter(ids));
    progress.step("", static_cast<int64_t>(end - begin));
  }
  return ids;
}

std::string Utf8Stream::add(std::string_view bytes) {
  pending_ += bytes;
  std::string text;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const size_t size = first_character(rest).size;
    if (size == 0 && may_begin(rest)) break;
    text += size == 0 ? kReplacement : shown(rest.substr(0, size));
    rest.remove_prefix(std::max<size_t>(1, size));
  }
  pending_ = std::string(rest);
  return text;
}

std::string Utf8Stream::end() {
  std::string text;
  for (size_t i = 0; i < pending_.size(); ++i) text += kReplacement;
  pending_.clear();
  return text;
}

}  // namespace program
