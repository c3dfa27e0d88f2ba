#include "nn/text/vocabulary.h"

#include "tensor/lists.h"
#include "tensor/utf8.h"

namespace heed {

constexpr const char* kSpecial[] = {"<pad>", "<bos>", "<eos>", "<unk>"};

Vocabulary::Vocabulary(const std::vector<Tokens>& texts, int64_t min_count) {
  check(min_count >= 1, "Vocabulary: min_count is ", min_count, "; it must be at least 1");
  for (const char* token : kSpecial) add(token);
  std::map<std::string, int64_t> counts;
  for (const Tokens& text : texts)
    for (const std::string& token : text) ++counts[token];
  std::vector<std::pair<std::string, int64_t>> found(counts.begin(), counts.end());
  std::ranges::stable_sort(found, std::greater{}, &std::pair<std::string, int64_t>::second);
  for (const auto& [token, count] : found)
    if (count >= min_count && !contains(token)) add(token);
}

void Vocabulary::add(std::string token) {
  check(!token.empty(), "Vocabulary: token ", size(), " is empty");
  check_utf8("Vocabulary", token);
  check(token.find_first_of("\r\n") == std::string::npos, "Vocabulary: token ", size(),
        " contains a line break; a vocabulary is saved with one token on each line");
  const bool added = ids_.emplace(token, size()).second;
  check(added, "Vocabulary: token \"", token, "\" appears twice, as ", id(token), " and ", size());
  tokens_.push_back(std::move(token));
}

int64_t Vocabulary::id(const std::string& token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? unk : found->second;
}

std::string Vocabulary::token(int64_t id) const {
  check(id >= 0 && id < size(), "Vocabulary: there is no id ", id, "; the ids are 0 to ", size() - 1);
  return tokens_[id];
}

Ids Vocabulary::encode(const Tokens& tokens) const {
  return detail::mapped(tokens, [&](const std::string& token) { return id(token); });
}

Tokens Vocabulary::decode(const Ids& ids) const {
  Tokens tokens;
  for (const int64_t id : ids) {
    if (id == eos) break;
    if (id != pad && id != bos) tokens.push_back(token(id));
  }
  return tokens;
}

std::string Vocabulary::to_text() const { return detail::listed(tokens_, "\n") + "\n"; }

Vocabulary Vocabulary::from_text(std::string_view text) {
  Vocabulary read;
  int64_t line = 0;
  for (; !text.empty(); ++line) {
    std::string token(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(token.size() + 1, text.size()));
    if (token.ends_with('\r')) token.pop_back();
    if (line < unk + 1)
      check(token == kSpecial[line], "Vocabulary: line ", line + 1, " is \"", token, "\" and must be ",
            kSpecial[line], "; is this a saved vocabulary?");
    else
      read.add(token);
  }
  check(line > unk, "Vocabulary: the text has ", line, " lines; the first four are <pad> <bos> <eos> <unk>");
  return read;
}

}  // namespace heed
