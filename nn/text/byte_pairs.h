#pragma once

#include <utility>

#include "nn/text/vocabulary.h"

/// Byte-pair encoding: tokens between characters and words, learned from a text.
namespace heed {

/// Byte-pair encoding (Sennrich, Haddow and Birch, 2016). Ids 0 to 255 are the bytes, so every text can be
/// encoded. Each further token joins two earlier ones:
///
///   the text is cut into pieces, for instance words with the space before them; each starts as its bytes
///   the most frequent pair of neighboring tokens becomes the next token and is joined in all pieces
///   and so on, until there are `size` tokens
///
/// A text is encoded by the same joins in the same order: "lower" may become "low" "er", and a new word
/// becomes known parts. No token crosses the end of a piece.
///
/// A piece is a run of letters, of digits, of white space, or of other ASCII characters, with one space
/// before it. The underscore and all bytes beyond ASCII count as letters. Longer runs are cut after 60 to 64
/// bytes.
class BytePairs {
 public:
  static constexpr int64_t bytes = 256;  ///< number of tokens that are single bytes

  /// Learns up to `size` tokens from a text, fewer if no pair occurs twice any more. Of equally frequent
  /// pairs the one with the smaller ids is joined. Throws if size is below 256.
  explicit BytePairs(std::string_view text = {}, int64_t size = bytes);

  /// The number of tokens.
  int64_t size() const { return std::ssize(tokens_); }
  /// The bytes of a token. Throws if there is no such id.
  const std::string& token(int64_t id) const;
  /// The ids of any text.
  Ids encode(std::string_view text) const;
  /// The inverse: decode(encode(x)) == x. A part of the ids may begin or end inside a character. Throws if
  /// there is no such id.
  std::string decode(const Ids& ids) const;

  /// The ids of the two tokens that each learned token joins, one pair on each line, for files and metadata.
  std::string to_text() const;
  /// Reads what to_text() wrote. Throws if a line does not contain two ids of earlier tokens, or a pair
  /// appears twice or is longer than a piece.
  static BytePairs from_text(std::string_view text);

 private:
  using Pair = std::pair<int64_t, int64_t>;
  void add(const Pair& pair);
  Ids encode_piece(std::string_view piece) const;

  std::vector<std::string> tokens_;
  std::vector<Pair> pairs_;         // joined by the tokens from 256 on
  std::map<Pair, int64_t> joined_;  // the token of each pair
};

}  // namespace heed
