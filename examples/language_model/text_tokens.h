#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nn/text/byte_pairs.h"

/// Texts as a language model reads and writes them.
namespace program {

/// The characters of a text, the most frequent ones, of equals that of the smaller code first. Id 0 stands
/// for all others.
class Characters {
 public:
  /// At most `size` ids, the unknown among them.
  Characters(std::string_view text, int64_t size);

  int64_t size() const { return std::ssize(characters_); }
  const std::string& token(int64_t id) const;
  heed::Ids encode(std::string_view text) const;
  /// All characters but the unknown, in order.
  std::string to_text() const;
  static Characters from_text(std::string_view text);

 private:
  Characters();
  void add(uint32_t code);

  std::vector<std::string> characters_;
  std::map<uint32_t, int64_t> ids_;
};

/// A text as ids: characters or byte pairs.
class TextTokens {
 public:
  /// Learned from a text; `kind` is one of kinds().
  TextTokens(const std::string& kind, std::string_view text, int64_t size);
  /// Read again: what kind() and to_text() said.
  static TextTokens from_text(const std::string& kind, std::string_view text);
  static const std::vector<std::string>& kinds();
  static constexpr const char* kBytePairs = "byte-pairs";  // the first of them

  std::string kind() const;
  std::string to_text() const;
  /// For other programs: kind() as `tokens`, and all `characters` in the order of their ids, or the `pairs`
  /// that each token from 256 on joins, a pair on each line, and `pieces`, a regular expression of bytes:
  /// each match is encoded by itself.
  std::map<std::string, std::string> description() const;
  int64_t size() const;
  heed::Ids encode(std::string_view text) const;
  /// The bytes of a token, which may be a part of a character; U+FFFD for what is unknown.
  const std::string& token(int64_t id) const;
  /// The bits it takes to say which characters the unknown ones of a text are, any of Unicode, once it is
  /// known where they are. A model that does not know a character does not get it for nothing.
  double unknown_bits(const heed::Ids& ids) const;

 private:
  using Tokens = std::variant<heed::BytePairs, Characters>;
  explicit TextTokens(Tokens tokens) : tokens_(std::move(tokens)) {}
  Tokens tokens_;
};

/// The ids of a long text, with progress.
heed::Ids encode_long(const TextTokens& tokens, std::string_view text);

/// Text that comes in parts that may end inside of a character: gives whole characters as soon as they are
/// there, U+FFFD for what can be none. Control characters but tabs and line feeds, which terminals obey, are
/// written out: "U+001B".
class Utf8Stream {
 public:
  /// What can be shown now.
  std::string add(std::string_view bytes);
  /// The rest, when no more comes.
  std::string end();

 private:
  std::string pending_;
};

}  // namespace program
