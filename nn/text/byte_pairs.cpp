#include "nn/text/byte_pairs.h"

#include <algorithm>
#include <charconv>
#include <queue>
#include <unordered_map>

#include "tensor/error.h"

namespace heed {
namespace {

using Pair = std::pair<int64_t, int64_t>;

// The kinds of bytes that pieces consist of.
enum class CharKind { letters, digits, space, other };
CharKind kind_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const int lower = byte | 0x20;
  if (byte >= 0x80 || byte == '_' || (lower >= 'a' && lower <= 'z')) return CharKind::letters;
  if (byte >= '0' && byte <= '9') return CharKind::digits;
  return byte == ' ' || (byte >= '\t' && byte <= '\r') ? CharKind::space : CharKind::other;
}

constexpr size_t kMaxPiece = 64;  // bytes: the time to join the pairs of a piece is quadratic in its size

// The number of bytes of the piece at the beginning of a text.
size_t piece_size(std::string_view text) {
  const size_t first = text.size() > 1 && text[0] == ' ' && kind_of(text[1]) != CharKind::space;
  const CharKind kind = kind_of(text[first]);
  size_t size = first + 1;
  while (size < text.size() && kind_of(text[size]) == kind &&
         (size < kMaxPiece - 4 || (size < kMaxPiece && (text[size] & 0xC0) == 0x80)))
    ++size;
  const bool before_piece = size < text.size() && kind_of(text[size]) != CharKind::space;
  if (kind == CharKind::space && size > 1 && before_piece && text[size - 1] == ' ') --size;
  return size;
}

// Calls f(piece) for each piece of a text.
void for_each_piece(std::string_view text, const auto& f) {
  while (!text.empty()) {
    const size_t size = piece_size(text);
    f(text.substr(0, size));
    text.remove_prefix(size);
  }
}

Ids bytes_of(std::string_view piece) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(piece.data());
  return {bytes, bytes + piece.size()};
}

// Replaces each occurrence of a pair by `id`, from left to right.
void replace(Ids& ids, const Pair& pair, int64_t id) {
  size_t size = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool here = i + 1 < ids.size() && Pair(ids[i], ids[i + 1]) == pair;
    ids[size++] = here ? id : ids[i];
    i += here;
  }
  ids.resize(size);
}

// Counts the pairs of neighboring tokens in the pieces of a text. Joining a pair updates only the pieces that
// contain it.
class PairCounter {
 public:
  explicit PairCounter(std::string_view text) {
    std::map<std::string_view, int64_t> counts;
    for_each_piece(text, [&](std::string_view piece) { ++counts[piece]; });
    for (const auto& [piece, count] : counts) pieces_.push_back({bytes_of(piece), count});
    for (size_t i = 0; i < pieces_.size(); ++i) count_pairs(i, 1, 0);
  }

  // The most frequent pair, of several the one with the smallest ids; none if no pair occurs twice. Pairs in
  // the queue only become rarer, so a count is corrected when it comes first.
  std::optional<Pair> most_frequent() {
    for (const Pair& pair : std::exchange(new_pairs_, {})) queue_.emplace(-pairs_[pair].count, pair);
    while (!queue_.empty() && queue_.top().first < -1) {
      const auto [negative_count, pair] = queue_.top();
      queue_.pop();
      const int64_t count = pairs_[pair].count;
      if (count == -negative_count) return pair;
      queue_.emplace(-count, pair);
    }
    return std::nullopt;
  }

  // Joins a pair to a token with a new id.
  void join(const Pair& pair, int64_t id) {
    for (const size_t piece : std::exchange(pairs_[pair].pieces, {})) {
      Ids joined = pieces_[piece].ids;
      replace(joined, pair, id);
      if (joined.size() == pieces_[piece].ids.size()) continue;  // listed twice, or changed since
      count_pairs(piece, -1, INT64_MAX);
      pieces_[piece].ids = std::move(joined);
      count_pairs(piece, 1, id);
    }
  }

 private:
  // Adds the pairs of a piece to the counts, or subtracts them. Pairs with a token from `first_new` on also
  // list the piece.
  void count_pairs(size_t piece, int64_t sign, int64_t first_new) {
    const auto& [ids, count] = pieces_[piece];
    for (size_t i = 1; i < ids.size(); ++i) {
      const Pair pair(ids[i - 1], ids[i]);
      Occurrences& occurrences = pairs_[pair];
      occurrences.count += sign * count;
      if (std::max(pair.first, pair.second) < first_new) continue;
      if (occurrences.pieces.empty()) new_pairs_.push_back(pair);
      occurrences.pieces.push_back(piece);
    }
  }

  struct Piece {
    Ids ids;
    int64_t count;  // occurrences in the text
  };
  struct Occurrences {
    int64_t count = 0;
    std::vector<size_t> pieces;  // that contain the pair, or did
  };
  using Ranked = std::pair<int64_t, Pair>;  // the negative count first, so that the smallest comes first
  std::vector<Piece> pieces_;
  std::map<Pair, Occurrences> pairs_;
  std::vector<Pair> new_pairs_;  // not in the queue yet
  std::priority_queue<Ranked, std::vector<Ranked>, std::greater<>> queue_;
};

}  // namespace

BytePairs::BytePairs(std::string_view text, int64_t size) {
  check(size >= bytes, "BytePairs: size is ", size, "; it must be at least 256, a token for each byte");
  for (int byte = 0; byte < bytes; ++byte) tokens_.emplace_back(1, static_cast<char>(byte));
  PairCounter counter(text);
  while (this->size() < size) {
    const std::optional<Pair> pair = counter.most_frequent();
    if (!pair) break;
    counter.join(*pair, this->size());
    add(*pair);
  }
}

void BytePairs::add(const Pair& pair) {
  const bool added = joined_.emplace(pair, size()).second;
  check(added, "BytePairs: the pair ", pair.first, " ", pair.second, " appears twice, as ", joined_[pair],
        " and ", size());
  std::string token = this->token(pair.first) + this->token(pair.second);
  check(token.size() <= kMaxPiece, "BytePairs: the pair ", pair.first, " ", pair.second, " has ",
        token.size(), " bytes; a piece of text has at most ", kMaxPiece);
  pairs_.push_back(pair);
  tokens_.push_back(std::move(token));
}

const std::string& BytePairs::token(int64_t id) const {
  check(id >= 0 && id < size(), "BytePairs: there is no id ", id, "; the ids are 0 to ", size() - 1);
  return tokens_[id];
}

Ids BytePairs::encode_piece(std::string_view piece) const {
  Ids ids = bytes_of(piece);
  while (true) {
    auto first = joined_.end();  // the pair that was learned first is joined first
    for (size_t i = 1; i < ids.size(); ++i) {
      const auto here = joined_.find({ids[i - 1], ids[i]});
      if (here != joined_.end() && (first == joined_.end() || here->second < first->second)) first = here;
    }
    if (first == joined_.end()) return ids;
    replace(ids, first->first, first->second);
  }
}

Ids BytePairs::encode(std::string_view text) const {
  Ids all;
  std::unordered_map<std::string_view, Ids> cache;
  for_each_piece(text, [&](std::string_view piece) {
    const auto [at, is_new] = cache.try_emplace(piece);
    if (is_new) at->second = encode_piece(piece);
    all.insert(all.end(), at->second.begin(), at->second.end());
  });
  return all;
}

std::string BytePairs::decode(const Ids& ids) const {
  std::string text;
  for (const int64_t id : ids) text += token(id);
  return text;
}

std::string BytePairs::to_text() const {
  std::string text;
  for (const auto& [left, right] : pairs_) text += std::to_string(left) + " " + std::to_string(right) + "\n";
  return text;
}

BytePairs BytePairs::from_text(std::string_view text) {
  BytePairs read;
  for (int64_t line = 1; !text.empty(); ++line) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    Pair pair{-1, -1};
    const char* const end = whole.data() + whole.size();
    const char* const space = std::from_chars(whole.data(), end, pair.first).ptr;
    const bool two = space != end && *space == ' ' && std::from_chars(space + 1, end, pair.second).ptr == end;
    check(two && std::min(pair.first, pair.second) >= 0 && std::max(pair.first, pair.second) < read.size(),
          "BytePairs: line ", line, " must be two ids from 0 to ", read.size() - 1,
          ", with a space between them; is this a saved text of byte pairs?");
    read.add(pair);
  }
  return read;
}

}  // namespace heed
