#include "examples/guide/chapter.h"

#include <algorithm>
#include <charconv>
#include <regex>
#include <span>
#include <sstream>

#include "examples/guide/excerpt.h"
#include "examples/guide/html.h"
#include "nn/files/text_file.h"
#include "tensor/error.h"

namespace program {

using heed::check;

namespace {

// The line that opens a block of code, of a run or of a bench, as a piece without the rest of the block; a
// text otherwise.
Piece opened(const std::string& line, int64_t number) {
  static const std::regex pattern(R"re(```\{\.(code|run|bench)((?: \w+="[^"]*")+)\})re");
  Piece piece{Piece::text, number, {}, {}, {}, {}, 0, {}};
  std::smatch found;
  if (!std::regex_match(line, found, pattern)) {
    check(!line.starts_with("```{"), "line ", number, ": ", line,
          " is none of {.code file=\"\" from=\"\"}, {.run command=\"\"} and {.bench name=\"\"}");
    return piece;
  }
  const std::string attributes = found[2];
  if (found[1] == "bench") {
    piece.kind = Piece::bench;
    piece.name = attribute_in(attributes, "name");
    piece.from = attribute_in(attributes, "state");
    check(!piece.name.empty(), "line ", number, ": a bench needs name=\"\"");
    return piece;
  }
  piece.kind = found[1] == "code" ? Piece::code : Piece::run;
  piece.name = attribute_in(attributes, "file");
  piece.command = attribute_in(attributes, "command");
  piece.from = attribute_in(attributes, "from");
  const std::string lines = attribute_in(attributes, "lines");
  if (!lines.empty()) {
    const auto [end, error] = std::from_chars(lines.data(), lines.data() + lines.size(), piece.lines);
    check(error == std::errc() && *end == '\0' && piece.lines > 0, "line ", number, ": lines=\"", lines,
          "\" must be a number above 0");
  }
  if (piece.kind == Piece::code)
    check(!piece.name.empty() && !piece.from.empty(), "line ", number,
          ": code needs file=\"\" and from=\"\"");
  else
    check(!piece.command.empty(), "line ", number, ": a run needs command=\"\"");
  return piece;
}

// A line of prose: its heading or picture, or its text with numbers.
void add_prose(std::vector<Piece>& pieces, const std::string& line, int64_t number) {
  static const std::regex heading(R"(#{1,6} (C-\d{3}-\d{2})?.*)"),
      picture(R"re(!\[(.*)\]\((\S+) "([^"]+)"\))re"), inline_number(R"(`=([^:`]+): ([^`]+)`)");
  const Piece plain{Piece::text, number, line + "\n", {}, {}, {}, 0, {}};
  std::smatch found;
  if (std::regex_match(line, found, heading)) {
    pieces.push_back(plain);
    pieces.back().kind = Piece::heading;
    pieces.back().name = found[1];
    return;
  }
  if (std::regex_match(line, found, picture)) {
    pieces.push_back({Piece::picture, number, line + "\n", found[2], found[3], {}, 0, found[1]});
    return;
  }
  std::string rest = line + "\n";
  while (std::regex_search(rest, found, inline_number)) {
    pieces.push_back(plain);
    pieces.back().raw = found.prefix();
    pieces.push_back({Piece::number, number, found[0], found[2], found[1], {}, 0, {}});
    rest = found.suffix();
  }
  pieces.push_back(plain);
  pieces.back().raw = rest;
}

}  // namespace

std::map<std::string, std::string> chapters_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files, chapters;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".md")
      files[file.path().stem().string()] = heed::read_bytes(file.path().string());
  check(!files.empty(), folder.string(), ": there are no chapters");
  std::string number, first;
  for (const auto& [name, text] : files) {
    if (const std::string own = name.substr(0, name.find_first_not_of("0123456789")); own != number)
      number = own, first = name;
    chapters[first] += (name == first ? "" : "\n") + text;
  }
  return chapters;
}

std::vector<Piece> pieces_of(const std::string& chapter) {
  std::vector<Piece> pieces;
  Piece block{};  // that is open, if its raw is not empty
  std::string end;
  int64_t number = 0;
  for (const std::string& line : split_lines(chapter)) {
    ++number;
    if (!block.raw.empty()) {
      const bool gap = block.kind != Piece::text && block.kind != Piece::formula;
      check(!gap || line == end, "line ", number, ": a block that is filled must be empty");
      block.raw += line + "\n";
      if (block.kind == Piece::formula ? line.ends_with(end) : line == end) {
        pieces.push_back(block);
        block = {};
      }
      continue;
    }
    if (line.starts_with("```")) {
      block = opened(line, number);
      end = "```";
    } else if (line.starts_with("$$") && !(line.size() > 3 && line.ends_with("$$"))) {
      block = {Piece::formula, number, {}, {}, {}, {}, 0, {}};
      end = "$$";
    } else if (line.starts_with("$$")) {
      pieces.push_back({Piece::formula, number, line + "\n", {}, {}, {}, 0, {}});
      continue;
    } else {
      add_prose(pieces, line, number);
      continue;
    }
    block.raw = line + "\n";
  }
  check(block.raw.empty(), "line ", block.line, ": ", end, " does not end");
  return pieces;
}

std::vector<std::string> skeleton_of(const std::string& chapter) {
  std::vector<std::string> skeleton;
  for (const Piece& piece : pieces_of(chapter)) switch (piece.kind) {
      case Piece::text:
        if (piece.raw.starts_with("```")) skeleton.push_back(piece.raw);
        break;
      case Piece::heading:
        skeleton.push_back("# " + piece.name);
        break;
      case Piece::picture:
        skeleton.push_back("picture " + piece.name + " of " + piece.command);
        break;
      case Piece::number:
      case Piece::formula:
      case Piece::code:
      case Piece::run:
      case Piece::bench:
        skeleton.push_back(piece.raw);
        break;
    }
  return skeleton;
}

namespace {

std::string code_block(const Piece& piece, const Filling& filling) {
  const Excerpt part = excerpt(filling.source(piece.name), piece.from);
  const size_t indent = part.lines.front().find_first_not_of(' ');
  const int64_t all = std::ssize(part.lines), count = piece.lines == 0 ? all : std::min(piece.lines, all);
  std::ostringstream out;
  out << "::: source\n`" << piece.name << ":" << part.first << "`\n:::\n\n```cpp\n";
  for (const std::string& line : std::span(part.lines).first(static_cast<size_t>(count)))
    out << (line.size() > indent ? line.substr(indent) : "") << "\n";
  if (count < all) out << "  // …\n";
  out << "```\n";
  return out.str();
}

std::string run_block(const Piece& piece, const Filling& filling) {
  const std::string printed = filling.printed(piece.command);
  const std::vector<std::string> lines = split_lines(printed), shown = split_lines(filling.shown(printed));
  check(lines.size() == shown.size(), piece.command, " prints ", lines.size(), " lines, but ", shown.size(),
        " are shown");
  const auto begins = [&](const std::string& line) { return line.find(piece.from) != std::string::npos; };
  const int64_t first = std::ranges::find_if(lines, begins) - lines.begin(), all = std::ssize(lines);
  check(first < all, piece.command, " prints no line with \"", piece.from, "\"");
  const int64_t last = piece.lines == 0 ? all : std::min(first + piece.lines, all);
  std::ostringstream out;
  out << "::: command\n`./examples/run.sh " << piece.command << "` [" << filling.duration(piece.command)
      << "]{.duration}\n:::\n\n```text\n";
  for (int64_t i = first; i < last; ++i) out << shown[static_cast<size_t>(i)] << "\n";
  out << "```\n";
  return out.str();
}

std::string bench_block(const Piece& piece, const std::string& at, const Filling& filling) {
  check(!at.empty(), "a bench stands in the section of a concept");
  return "```{=html}\n" + filling.bench(piece.name, at, piece.from) + "```\n";
}

// The heading with an id, and the id of a concept small at its end: "## C-000-05 The mean".
std::string heading_with_id(const Piece& piece, int64_t number) {
  const size_t level = piece.raw.find(' ') + 1;  // the length of "## "
  std::string title = piece.raw.substr(level, piece.raw.size() - level - 1);
  std::string id = level == 2 ? "top" : "s-" + std::to_string(number);
  if (!piece.name.empty()) {
    id = piece.name;
    title = title.substr(std::min(id.size() + 1, title.size())) + " [" + id + "]{.concept}";
  }
  return piece.raw.substr(0, level) + title + " {#" + id + "}\n";
}

// Prose in which the id of a concept leads to its section.
std::string prose_with_links(const std::string& prose) {
  static const std::regex id(R"((^|[^\w#`\[-])(C-\d{3}-\d{2})(?![\w-]))");
  return prose.starts_with("```") ? prose : std::regex_replace(prose, id, "$1[$2](#$2)");
}

}  // namespace

std::string filled(const std::string& chapter, const Filling& filling) {
  std::string text, section;  // the concept of the section
  int64_t headings = 0;
  const auto fill = [&](const Piece& piece) {
    switch (piece.kind) {
      case Piece::code:
        return code_block(piece, filling);
      case Piece::run:
        return run_block(piece, filling);
      case Piece::picture:
        return "![" + piece.caption + "](" + filling.picture(piece.command, piece.name) + ")\n";
      case Piece::number:
        return filling.number(piece.command, piece.name);
      case Piece::bench:
        return bench_block(piece, section, filling);
      case Piece::heading:
        if (!piece.raw.starts_with("###")) section = piece.name;
        return heading_with_id(piece, ++headings);
      case Piece::text:
        return prose_with_links(piece.raw);
      case Piece::formula:
        break;
    }
    return piece.raw;
  };
  for (const Piece& piece : pieces_of(chapter)) {
    try {
      text += fill(piece);
    } catch (const std::exception& error) {
      heed::fail("line ", piece.line, ": ", error.what());
    }
  }
  return text;
}

}  // namespace program
