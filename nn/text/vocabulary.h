#pragma once

#include <cstdint>
#include <map>

#include "nn/text/tokenise.h"

/// Tokens and their ids.
namespace heed {

/// A text as the ids of its tokens.
using Ids = std::vector<int64_t>;

/// Tokens and their ids, 0 to size() - 1. The first four are not words:
///
///   0 <pad>  fills a batch
///   1 <bos>  begins a sentence
///   2 <eos>  ends it
///   3 <unk>  replaces every unknown token
///
/// Tokens are not empty, UTF-8, and hold no line break, so that a vocabulary is a text: a token on each line.
class Vocabulary {
 public:
  static constexpr int64_t pad = 0, bos = 1, eos = 2, unk = 3;  ///< padding; begin; end; unknown

  /// Every token that `texts` have at least min_count times: the most frequent first, then by its bytes, so
  /// that the order of the texts is of no consequence. Errors: min_count below 1; a token that is empty, not
  /// UTF-8, or holds a line break.
  explicit Vocabulary(const std::vector<Tokens>& texts = {}, int64_t min_count = 1);

  /// The number of tokens, those four among them.
  int64_t size() const { return static_cast<int64_t>(tokens_.size()); }
  /// Whether a token is in it.
  bool contains(const std::string& token) const { return ids_.contains(token); }
  /// The id of a token; unk if it is unknown.
  int64_t id(const std::string& token) const;
  /// The token of an id. Errors: there is no such id.
  std::string token(int64_t id) const;
  /// The ids of the tokens, without `<bos>` and `<eos>`, which belong to batches: see teacher_forcing.
  Ids encode(const Tokens& tokens) const;
  /// The tokens before the first `<eos>`, without `<pad>` and `<bos>`.
  Tokens decode(const Ids& ids) const;

  /// A token on each line, in the order of their ids; for a file, or for the metadata of one.
  std::string to_text() const;
  /// Reads what to_text() wrote; lines may end in CRLF. Errors: a text without the four
  /// at its head; a token twice.
  static Vocabulary from_text(std::string_view text);

 private:
  void add(std::string token);

  std::vector<std::string> tokens_;
  std::map<std::string, int64_t> ids_;
};

}  // namespace heed
