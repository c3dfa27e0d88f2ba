#include "nn/text/byte_pairs.h"

#include <algorithm>
#include <charconv>
#include <queue>
#include <unordered_map>

#include "tensor/error.h"

namespace heed {
namespace {

using Pair = std::pair<int64_t, int64_t>;

// What kind of piece a byte belongs to.
enum class Kind { letters, digits, space, marks };
Kind kind_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const int lower = byte | 0x20;
  if (byte >= 0x80 || byte == '_' || (lower >= 'a' && lower <= 'z')) return Kind::letters;
  if (byte >= '0' && byte <= '9') return Kind::digits;
  return byte == ' ' || (byte >= '\t' && byte <= '\r') ? Kind::space : Kind::marks;
}

constexpr size_t kLongest = 64;  // bytes of a piece: the time to join its pairs is the square of them

// The bytes of the piece that a text begins with.
size_t piece_size(std::string_view text) {
  const size_t first = text.size() > 1 && text[0] == ' ' && kind_of(text[1]) != Kind::space;
  const Kind kind = kind_of(text[first]);
  size_t size = first + 1;
  const auto continues = [&] { return (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80; };
  while (size < text.size() && kind_of(text[size]) == kind &&
         (size < kLongest - 4 || (size < kLongest && continues())))
    ++size;
  const bool before_piece = size < text.size() && kind_of(text[size]) != Kind::space;
  if (kind == Kind::space && size > 1 && before_piece && text[size - 1] == ' ') --size;
  return size;
}

// Calls f(piece) for the pieces of a text, which together are the text.
void each_piece(std::string_view text, const auto& f) {
  while (!text.empty()) {
    const size_t size = piece_size(text);
    f(text.substr(0, size));
    text.remove_prefix(size);
  }
}

Ids bytes_of(std::string_view piece) {
  Ids ids;
  for (const char byte : piece) ids.push_back(static_cast<unsigned char>(byte));
  return ids;
}

// Puts `id` for every pair, from the left; false if there is none.
bool join(Ids& ids, const Pair& pair, int64_t id) {
  size_t size = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool here = i + 1 < ids.size() && ids[i] == pair.first && ids[i + 1] == pair.second;
    ids[size++] = here ? id : ids[i];
    i += here;
  }
  const bool found = size < ids.size();
  ids.resize(size);
  return found;
}

bool holds(const Ids& ids, const Pair& pair) {
  for (size_t i = 1; i < ids.size(); ++i)
    if (ids[i - 1] == pair.first && ids[i] == pair.second) return true;
  return false;
}

}  // namespace

BytePairs::BytePairs(std::string_view text, int64_t size) {
  check(size >= bytes, "BytePairs: size is ", size, "; it must be at least 256, a token for each byte");
  for (int byte = 0; byte < bytes; ++byte) tokens_.emplace_back(1, static_cast<char>(byte));

  std::map<std::string_view, int64_t> counts;
  each_piece(text, [&](std::string_view piece) { ++counts[piece]; });
  std::vector<std::pair<Ids, int64_t>> pieces;  // each once, with how often it is there
  for (const auto& [piece, count] : counts)
    if (piece.size() > 1) pieces.emplace_back(bytes_of(piece), count);

  struct Places {
    int64_t count = 0;           // how often a pair is there
    std::vector<size_t> pieces;  // that have it, or had
  };
  std::map<Pair, Places> pairs;
  std::vector<Pair> changed;  // that are new, or rarer than the queue below has them
  // Counts the pairs of a piece, or takes them out again; those with a token from `is_new` on are noted to be
  // there.
  const auto count_pairs = [&](size_t piece, int64_t sign, int64_t is_new) {
    const auto& [ids, count] = pieces[piece];
    for (size_t i = 1; i < ids.size(); ++i) {
      Places& places = pairs[{ids[i - 1], ids[i]}];
      places.count += sign * count;
      if (std::max(ids[i - 1], ids[i]) < is_new) continue;
      if (places.pieces.empty()) changed.emplace_back(ids[i - 1], ids[i]);
      places.pieces.push_back(piece);
    }
  };
  for (size_t piece = 0; piece < pieces.size(); ++piece) count_pairs(piece, 1, 0);
  // The most frequent pair first, of equals that of the smaller ids. Once it is here, a pair can only become
  // rarer: when its turn comes, it is looked up whether it has.
  using Counted = std::pair<int64_t, Pair>;
  const auto later = [](const Counted& a, const Counted& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  };
  std::priority_queue<Counted, std::vector<Counted>, decltype(later)> queue(later);
  while (this->size() < size) {
    for (const Pair& pair : std::exchange(changed, {})) queue.emplace(pairs[pair].count, pair);
    if (queue.empty() || queue.top().first < 2) break;
    const auto [counted, pair] = queue.top();
    queue.pop();
    auto& [count, places] = pairs[pair];
    if (count < counted) {
      changed.push_back(pair);
      continue;
    }
    for (const size_t piece : std::exchange(places, {})) {
      Ids& ids = pieces[piece].first;
      if (!holds(ids, pair)) continue;
      count_pairs(piece, -1, INT64_MAX);
      join(ids, pair, this->size());
      count_pairs(piece, 1, this->size());
    }
    add(pair);
  }
}

void BytePairs::add(const Pair& pair) {
  const bool added = joined_.emplace(pair, size()).second;
  check(added, "BytePairs: the pair ", pair.first, " ", pair.second, " is there twice, as ", joined_[pair],
        " and ", size());
  std::string token = this->token(pair.first) + this->token(pair.second);
  check(token.size() <= kLongest, "BytePairs: the pair ", pair.first, " ", pair.second, " has ", token.size(),
        " bytes, more than a piece of a text has, ", kLongest);
  pairs_.push_back(pair);
  tokens_.push_back(std::move(token));
}

const std::string& BytePairs::token(int64_t id) const {
  check(id >= 0 && id < size(), "BytePairs: there is no id ", id, "; the ids are 0 to ", size() - 1);
  return tokens_[static_cast<size_t>(id)];
}

Ids BytePairs::encode(std::string_view text) const {
  Ids all;
  std::unordered_map<std::string_view, Ids> known;  // pieces come again and again
  each_piece(text, [&](std::string_view piece) {
    const auto [at, is_new] = known.try_emplace(piece);
    Ids& ids = at->second;
    if (is_new) {
      ids = bytes_of(piece);
      // The pair that was learned first is joined first.
      for (bool found = true; found;) {
        auto first = joined_.end();
        for (size_t i = 1; i < ids.size(); ++i) {
          const auto here = joined_.find({ids[i - 1], ids[i]});
          if (here != joined_.end() && (first == joined_.end() || here->second < first->second)) first = here;
        }
        found = first != joined_.end() && join(ids, first->first, first->second);
      }
    }
    all.insert(all.end(), ids.begin(), ids.end());
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
