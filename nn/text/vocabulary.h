#pragma once

#include <cstdint>
#include <map>

#include "nn/text/tokenise.h"

/// Tokens and their ids.
namespace heed {

/// A text as the ids of its tokens.
using Ids = std::vector<int64_t>;

/// Tokens and their ids, 0 to size() - 1. The first four are special:
///
///   0 <pad>  fills the rows of a batch
///   1 <bos>  begins a sentence
///   2 <eos>  ends a sentence
///   3 <unk>  replaces unknown tokens
///
/// Tokens are not empty, are UTF-8, and contain no line break, so that a vocabulary can be saved as a text
/// with one token on each line.
class Vocabulary {
 public:
  static constexpr int64_t pad = 0, bos = 1, eos = 2, unk = 3;

  /// All tokens that occur in `texts` at least min_count times, by descending count and then by bytes, so
  /// that the order of the texts does not matter. Throws if min_count is below 1 or a token is invalid.
  explicit Vocabulary(const std::vector<Tokens>& texts = {}, int64_t min_count = 1);

  /// The number of tokens, including the special ones.
  int64_t size() const { return std::ssize(tokens_); }
  bool contains(const std::string& token) const { return ids_.contains(token); }
  /// The id of a token, or unk.
  int64_t id(const std::string& token) const;
  /// The token of an id. Throws if there is no such id.
  std::string token(int64_t id) const;
  /// The ids of the tokens. `<bos>` and `<eos>` are not added; see teacher_forcing.
  Ids encode(const Tokens& tokens) const;
  /// The tokens before the first `<eos>`, without `<pad>` and `<bos>`.
  Tokens decode(const Ids& ids) const;

  /// All tokens in the order of their ids, one on each line, for files and metadata.
  std::string to_text() const;
  /// Reads what to_text() wrote; lines may end in CRLF. Throws if the text does not begin with the special
  /// tokens, or a token is invalid or appears twice.
  static Vocabulary from_text(std::string_view text);

 private:
  void add(std::string token);

  std::vector<std::string> tokens_;
  std::map<std::string, int64_t> ids_;
};

}  // namespace heed
