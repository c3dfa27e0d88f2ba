#pragma once

#include <map>
#include <utility>

#include "nn/text/vocabulary.h"

/// Tokens between characters and words, learned from a text.
namespace heed {

/// Byte-pair encoding (Sennrich, Haddow and Birch, 2016). The ids 0 to 255 are the bytes, so that every text
/// has ids. Each further token joins two that are there:
///
///   the text is cut in pieces, such as words with the space before them; each begins as its bytes
///   the pair of neighbours in a piece that is most frequent in the text becomes the next token, everywhere
///   and so on, until there are as many tokens as were asked for
///
/// A text is encoded by the same joins in the same order: "lower" may become "low" "er", and a word that was
/// never seen becomes parts that were. No token reaches from one piece into the next.
///
/// A piece is a run of letters, of digits, of white space, or of other marks of ASCII, with the one space
/// that stands before it. The underscore and all bytes beyond ASCII count as letters. Longer runs are cut
/// after 60 to 64 bytes.
class BytePairs {
 public:
  static constexpr int64_t bytes = 256;  ///< tokens before the first that is learned

  /// At most `size` tokens, learned from a text; fewer where no pair occurs twice any more. Of pairs that are
  /// equally frequent the one of smaller ids is joined. Errors: a size below 256.
  explicit BytePairs(std::string_view text = {}, int64_t size = bytes);

  /// The number of tokens.
  int64_t size() const { return std::ssize(tokens_); }
  /// The bytes that an id stands for. Errors: there is no such id.
  const std::string& token(int64_t id) const;
  /// The ids of any text.
  Ids encode(std::string_view text) const;
  /// The text again, byte for byte: decode(encode(x)) == x. A part of the ids may begin or end inside of a
  /// character. Errors: there is no such id.
  std::string decode(const Ids& ids) const;

  /// The two ids that each learned token joins, on a line each; for a file, or for the metadata of one.
  std::string to_text() const;
  /// Reads what to_text() wrote. Errors: a line that is not two ids of tokens before it; a pair twice, or
  /// longer than a piece.
  static BytePairs from_text(std::string_view text);

 private:
  using Pair = std::pair<int64_t, int64_t>;
  void add(const Pair& pair);

  std::vector<std::string> tokens_;
  std::vector<Pair> pairs_;         // that the tokens from 256 on join
  std::map<Pair, int64_t> joined_;  // and what they become
};

}  // namespace heed
