#include "examples/guide/catalog.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "examples/guide/excerpt.h"
#include "examples/guide/html.h"
#include "nn/view/markup.h"
#include "tensor/error.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace program {

using heed::display_width;

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Whether a word, a path, an option or a dotted name goes on across the place before text[at].
bool joined(const std::string& text, size_t at) {
  if (at == 0 || at >= text.size()) return false;
  const char before = text[at - 1], after = text[at];
  const auto joins = [](char c) { return c == '_' || c == '-' || c == '/' || c == '.'; };
  if (is_word(before) && is_word(after)) return true;
  if (is_word(after)) return joins(before);
  // A full stop or hyphen belongs to the word only if another letter follows.
  return is_word(before) && joins(after) && at + 1 < text.size() && is_word(text[at + 1]);
}

// The end of the word or number at `begin`: before a space, and without punctuation after it.
size_t word_end(const std::string& text, size_t begin) {
  size_t end = std::min(text.find(' ', begin), text.size());
  while (end > begin && std::string(".,:;)").find(text[end - 1]) != std::string::npos) --end;
  return end;
}

// The translation with the words in the places of {1}, {2}, ...
std::string with_words(std::string translation, const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i)
    translation = heed::replaced(translation, "{" + std::to_string(i + 1) + "}", words[i]);
  return translation;
}

// A part of a line between gaps of two or more spaces; columns are those of a terminal.
struct Cell {
  std::string text;
  int64_t begin, end;
};

std::vector<Cell> cells_of(const std::string& line) {
  std::vector<Cell> cells;
  int64_t column = 0;
  for (size_t at = 0; at < line.size();) {
    const size_t begin = std::min(line.find_first_not_of(' ', at), line.size());
    column += static_cast<int64_t>(begin - at);
    if (begin == line.size()) break;
    const size_t end = std::min(line.find("  ", begin), line.size());
    const std::string text = line.substr(begin, end - begin);
    cells.push_back({text, column, column + display_width(text)});
    column = cells.back().end;
    at = end;
  }
  return cells;
}

using Block = std::vector<std::vector<Cell>>;  // lines without an empty one between them

// How a cell is aligned with others of its block.
enum class Alignment { left, right, none };
Alignment alignment_of(const Block& block, const Cell& cell) {
  int64_t ends = 0, begins = 0;  // with the cell itself
  for (const std::vector<Cell>& cells : block)
    for (const Cell& other : cells) {
      ends += other.end == cell.end;
      begins += other.begin == cell.begin;
    }
  return ends > begins ? Alignment::right : begins > 1 ? Alignment::left : Alignment::none;
}

// A line whose cells have other texts. They stay where they are aligned with cells of other lines.
std::string with_texts_of_cells(const Block& block, const std::vector<Cell>& cells,
                                const std::vector<std::string>& texts) {
  std::string line;
  int64_t width = 0, end = 0;  // of the new and the old line so far
  for (size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    const int64_t its_width = display_width(texts[i]);
    const Alignment alignment = alignment_of(block, cell);
    const int64_t begin = alignment == Alignment::left    ? cell.begin
                          : alignment == Alignment::right ? cell.end - its_width
                                                          : width + cell.begin - end;
    const int64_t gap = std::max<int64_t>(begin - width, i == 0 ? 0 : 2);
    line += std::string(static_cast<size_t>(gap), ' ') + texts[i];
    width += gap + its_width;
    end = cell.end;
  }
  return line;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \n\t"), end = text.find_last_not_of(" \n\t");
  return begin == text.npos ? "" : text.substr(begin, end + 1 - begin);
}

}  // namespace

Catalog::Catalog(const std::string& table) {
  int64_t number = 0;
  for (const std::string& line : split_lines(table)) {
    ++number;
    if (line.empty() || line.starts_with("#")) continue;
    const size_t tab = line.find('\t');
    heed::check(tab != line.npos && tab > 0, "line ", number,
                ": there is no tab between two phrases: ", line);
    Phrase phrase{{}, line.substr(tab + 1), 0};
    std::string rest = line.substr(0, tab);
    for (size_t at; (at = rest.find("{" + std::to_string(phrase.literals.size() + 1) + "}")) != rest.npos;) {
      phrase.literals.push_back(rest.substr(0, at));
      rest = rest.substr(at + 3);
    }
    phrase.literals.push_back(rest);
    for (const std::string& literal : phrase.literals) phrase.length += literal.size();
    for (size_t i = phrase.literals.size(); i < 10; ++i)
      heed::check(phrase.translation.find("{" + std::to_string(i) + "}") == std::string::npos, "line ",
                  number, ": {", i, "} is not in the phrase: ", line);
    phrases_.push_back(std::move(phrase));
  }
  std::ranges::stable_sort(phrases_, std::greater<>(), &Phrase::length);
}

// The end of the phrase in a text if it begins there, npos otherwise; the words are those of {1}, {2}, ...
size_t Catalog::Phrase::match(const std::string& text, size_t begin, std::vector<std::string>& words) const {
  words.clear();
  size_t at = begin;
  for (size_t i = 0; i < literals.size(); ++i) {
    if (i > 0) {
      const size_t last = word_end(text, at);
      const size_t end = literals[i].empty() ? last : text.find(literals[i], at + 1);
      if (end == text.npos || end <= at || end > std::min(text.find(' ', at), text.size())) return text.npos;
      words.push_back(text.substr(at, end - at));
      at = end;
    }
    if (text.compare(at, literals[i].size(), literals[i]) != 0) return text.npos;
    at += literals[i].size();
  }
  return joined(text, begin) || joined(text, at) ? text.npos : at;
}

std::string Catalog::text(const std::string& text) const {
  struct Part {
    std::string text;
    bool translated;
  };
  std::vector<Part> parts = {{text, false}};
  std::vector<std::string> words;
  for (const Phrase& phrase : phrases_)
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].translated) continue;
      const std::string part = parts[i].text;
      const std::string& first = phrase.literals[0];
      for (size_t begin = part.find(first); begin < part.size(); begin = part.find(first, begin + 1)) {
        const size_t end = phrase.match(part, begin, words);
        if (end == part.npos) continue;
        parts[i].text = part.substr(0, begin);
        parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                     {{with_words(phrase.translation, words), true}, {part.substr(end), false}});
        ++i;  // to the translation, and then to what follows it
        break;
      }
    }
  std::string joined_parts;
  for (const Part& part : parts) joined_parts += part.text;
  return joined_parts;
}

std::string Catalog::output(const std::string& printed) const {
  const std::vector<std::string> lines = split_lines(printed);
  std::string shown;
  for (size_t first = 0; first < lines.size();) {
    size_t last = first;
    Block block;
    for (; last < lines.size() && (last == first || !lines[last].empty()); ++last)
      block.push_back(cells_of(lines[last]));
    for (const std::vector<Cell>& cells : block) {
      std::vector<std::string> texts;
      for (const Cell& cell : cells) texts.push_back(text(cell.text));
      shown += with_texts_of_cells(block, cells, texts) + "\n";
    }
    first = last;
  }
  return shown;
}

std::string Catalog::picture(const std::string& svg) const {
  return with_texts(svg, [&](const std::string& part) {
    const std::string inside = trimmed(part), plain = unescaped(inside), translation = text(plain);
    return translation == plain ? part : heed::replaced(part, inside, heed::detail::escaped(translation));
  });
}

std::string Catalog::page(const std::string& html) const {
  using Json = nlohmann::ordered_json;
  const std::function<void(Json&)> translate = [&](Json& value) {
    if (value.is_structured())
      for (Json& part : value) translate(part);
    else if (value.is_string())
      value = text(value.get<std::string>());
  };
  const std::string titled =
      with_attributes(picture(html), [&](const std::string& name, const std::string& value) {
        return name == "title" || name == "aria-label" ? heed::detail::escaped(text(unescaped(value)))
                                                       : value;
      });
  constexpr std::string_view kEnd = "</script>";
  return with_parts(titled, "<script type=\"application/json\"", kEnd, [&](const std::string& script) {
    const size_t begin = script.find('>') + 1;
    Json data = Json::parse(script.substr(begin, script.size() - kEnd.size() - begin));
    translate(data);
    return script.substr(0, begin) + heed::detail::script_json(data.dump()) + std::string(kEnd);
  });
}

}  // namespace program
