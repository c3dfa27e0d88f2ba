#include "examples/shared/plot_style.h"

#include <vector>

#include "nn/view/markup.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace program {

namespace {

constexpr int64_t kTitleColumns = 46;

// What comes before the commands.
constexpr const char* kTerminal =
    R"(if (!exists('height')) height = 380
set terminal svg size 520,height font 'Helvetica,Arial,sans-serif,16' background '#ffffff'
if (!exists('target')) target = '{}'
set output target
)";

// What comes after them: draws again, higher, if the legend has left less than 240 pixels to the graph.
constexpr const char* kEnough =
    R"(graph = GPVAL_TERM_YMAX - GPVAL_TERM_YMIN
if (graph < 238) height = ceil(height + 240 - graph); load '{}'
)";

// Colors are Okabe and Ito's, which color-blind readers can tell apart.
constexpr const char* kStyle = R"(set encoding utf8
set border 3 linecolor '#555555'
set tics nomirror textcolor '#333333'
set grid linecolor '#e6e6e6' linetype 1
set key noenhanced textcolor '#333333' Left reverse samplen 2 width -3 height 1 spacing 1.1
set xlabel offset 0,0.5
set format xy '%g'
set title font ',17'
set linetype 1 linecolor '#0072b2'
set linetype 2 linecolor '#d55e00'
set linetype 3 linecolor '#009e73'
set linetype 4 linecolor '#cc79a7'
set linetype 5 linecolor '#e69f00'
set linetype 6 linecolor '#56b4e9'
set linetype 7 linecolor '#000000'
set linetype cycle 7
)";

// A text in double quotes, in which gnuplot reads \n as a line break and would run what is between backticks.
std::string double_quoted(const std::vector<std::string>& lines) {
  std::string text;
  for (std::string line : lines) {
    for (const auto& [from, to] : {std::pair("\\", "\\\\"), {"\"", "\\\""}, {"`", "\\140"}})
      line = heed::replaced(line, from, to);
    text += (text.empty() ? "" : "\\n") + line;
  }
  return "\"" + text + "\"";
}

// The lines of a title: broken after a colon if that is enough, else into lines of about the same length.
std::vector<std::string> title_lines(const std::string& title) {
  std::vector<std::string> lines = heed::detail::wrapped(title, kTitleColumns);
  if (lines.size() < 2) return lines;
  const size_t colon = title.find(": ");
  if (colon != title.npos && heed::display_width(title.substr(colon + 2)) <= kTitleColumns)
    return {title.substr(0, colon + 1), title.substr(colon + 2)};
  int64_t columns = kTitleColumns;
  for (const size_t count = lines.size(); lines.size() == count;)
    lines = heed::detail::wrapped(title, --columns);
  return heed::detail::wrapped(title, columns + 1);
}

// Commands whose title has lines that are no wider than the picture.
std::string with_short_title(const std::string& commands) {
  constexpr std::string_view kTitle = "set title '";
  const size_t begin = commands.find(kTitle);
  if (begin == commands.npos) return commands;
  std::string title;
  size_t end = begin + kTitle.size();
  for (; end < commands.size(); ++end) {
    if (commands[end] == '\'' && commands.compare(end++, 2, "''") != 0) break;  // two of them are one
    title += commands[end];
  }
  const std::vector<std::string> lines = title_lines(title);
  if (lines.size() < 2) return commands;
  return commands.substr(0, begin) + "set title " + double_quoted(lines) + commands.substr(end);
}

}  // namespace

std::string gnuplot_program(const std::string& name, const std::string& commands) {
  return heed::replaced(kTerminal, "{}", name + ".svg") + kStyle + with_short_title(commands) +
         heed::replaced(kEnough, "{}", name + ".gp");
}

}  // namespace program
