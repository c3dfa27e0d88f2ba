#include "examples/guide/excerpt.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "tensor/error.h"

namespace program {

using heed::check;

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
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
  const std::vector<std::string> lines = split_lines(source);
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

}  // namespace program
