#include "examples/guide/chapter.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <regex>
#include <sstream>

#include "tensor/error.h"

namespace program {

using heed::check;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The value of key="value", empty without the key.
std::string attribute(const std::string& attributes, const std::string& key) {
  std::smatch found;
  const std::regex pattern("(^| )" + key + "=\"([^\"]*)\"");
  return std::regex_search(attributes, found, pattern) ? found[2].str() : "";
}

// The line that opens a block of code or of a run, as a piece without the rest of the block; a text
// otherwise.
Piece opened(const std::string& line, int64_t number) {
  static const std::regex pattern(R"re(```\{\.(code|run)((?: \w+="[^"]*")+)\})re");
  Piece piece{Piece::text, number, {}, {}, {}, {}, 0, {}};
  std::smatch found;
  if (!std::regex_match(line, found, pattern)) {
    check(!line.starts_with("```{"), "line ", number, ": ", line,
          " is neither {.code file=\"\" from=\"\"} nor {.run command=\"\"}");
    return piece;
  }
  const std::string attributes = found[2];
  piece.kind = found[1] == "code" ? Piece::code : Piece::run;
  piece.name = attribute(attributes, "file");
  piece.command = attribute(attributes, "command");
  piece.from = attribute(attributes, "from");
  const std::string lines = attribute(attributes, "lines");
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

std::vector<Piece> pieces_of(const std::string& chapter) {
  std::vector<Piece> pieces;
  Piece block{};  // that is open, if its raw is not empty
  std::string end;
  int64_t number = 0;
  for (const std::string& line : lines_of(chapter)) {
    ++number;
    if (!block.raw.empty()) {
      const bool gap = block.kind == Piece::code || block.kind == Piece::run;
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
        skeleton.push_back(piece.raw);
        break;
    }
  return skeleton;
}

namespace {

// What a line adds to the brackets that are open; comments, texts and characters do not count.
int64_t opens(const std::string& line) {
  int64_t depth = 0;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || (c == '\'' && !(i > 0 && std::isdigit(static_cast<unsigned char>(line[i - 1]))))) {
      quote = c;
    } else if (c == '/' && i + 1 < line.size() && line[i + 1] == '/') {
      break;
    } else {
      depth += std::string("([{").find(c) != std::string::npos;
      depth -= std::string(")]}").find(c) != std::string::npos;
    }
  }
  return depth;
}

// Without what follows the last ; } or , that ends it: a comment.
std::string code_of(const std::string& line) {
  const size_t comment = line.find("  //");
  return line.substr(0, comment == std::string::npos ? line.size() : comment);
}

bool is_comment(const std::string& line) {
  const size_t first = line.find_first_not_of(' ');
  return first != std::string::npos && line.compare(first, 2, "//") == 0;
}

}  // namespace

Excerpt excerpt(const std::string& source, const std::string& from) {
  const std::vector<std::string> lines = lines_of(source);
  const auto has = [&](const std::string& line) { return line.find(from) != std::string::npos; };
  const auto hits = std::count_if(lines.begin(), lines.end(), has);
  check(hits == 1, hits == 0 ? "no line" : "more than one line", " contains \"", from, "\"");
  const auto at = std::find_if(lines.begin(), lines.end(), has);
  auto first = at, last = at;
  while (first != lines.begin() && is_comment(*(first - 1))) --first;
  int64_t depth = 0;
  bool initialisers = false;  // of a constructor: a comma does not end it
  for (; last != lines.end(); ++last) {
    depth += opens(*last);
    const std::string code = code_of(*last);
    const size_t start = code.find_first_not_of(' ');
    initialisers = initialisers || code.compare(std::min(start, code.size()), 2, ": ") == 0;
    if (depth <= 0 && (code.ends_with(';') || code.ends_with('}') || (code.ends_with(',') && !initialisers)))
      break;
  }
  check(last != lines.end(), "what begins with \"", from, "\" does not end");
  return {first - lines.begin() + 1, {first, last + 1}};
}

namespace {

std::string code_block(const Piece& piece, const Filling& filling) {
  const Excerpt part = excerpt(filling.source(piece.name), piece.from);
  const size_t indent = part.lines.front().find_first_not_of(' ');
  std::ostringstream out;
  out << "::: source\n`" << piece.name << ":" << part.first << "`\n:::\n\n```cpp\n";
  for (const std::string& line : part.lines) out << (line.size() > indent ? line.substr(indent) : "") << "\n";
  out << "```\n";
  return out.str();
}

std::string run_block(const Piece& piece, const Filling& filling) {
  const std::vector<std::string> lines = lines_of(filling.printed(piece.command));
  auto first = lines.begin();
  if (!piece.from.empty())
    first = std::find_if(first, lines.end(),
                         [&](const std::string& line) { return line.find(piece.from) != std::string::npos; });
  check(first != lines.end(), piece.command, " prints no line with \"", piece.from, "\"");
  const auto last =
      piece.lines == 0 ? lines.end() : first + std::min<int64_t>(piece.lines, lines.end() - first);
  std::ostringstream out;
  out << "::: command\n`./examples/run.sh " << piece.command << "`\n:::\n\n```text\n";
  for (auto line = first; line != last; ++line) out << *line << "\n";
  out << "```\n";
  return out.str();
}

std::string fill(const Piece& piece, const Filling& filling) {
  switch (piece.kind) {
    case Piece::code:
      return code_block(piece, filling);
    case Piece::run:
      return run_block(piece, filling);
    case Piece::picture:  // or a page to explore
      return (piece.name.ends_with(".html") ? "[" : "![") + piece.caption + "](" +
             filling.picture(piece.command, piece.name) + ")\n";
    case Piece::number:
      return filling.number(piece.command, piece.name);
    case Piece::heading:
      if (piece.name.empty()) return piece.raw;
      return piece.raw.substr(0, piece.raw.size() - 1) + " {#" + piece.name + "}\n";
    default:
      return piece.raw;
  }
}

}  // namespace

std::string filled(const std::string& chapter, const Filling& filling) {
  std::string text;
  for (const Piece& piece : pieces_of(chapter)) {
    try {
      text += fill(piece, filling);
    } catch (const std::exception& error) {
      heed::fail("line ", piece.line, ": ", error.what());
    }
  }
  return text;
}

}  // namespace program
