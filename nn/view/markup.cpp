#include "nn/view/markup.h"

#include "nn/text/tokenise.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace heed::detail {

// Dark colors as in look.css. They are for pictures that are opened alone: svg:root is not inside a page.
static constexpr const char* kSvgStyle = R"(<style>
.heed { fill: var(--ink, #222) } .heed .paper { fill: var(--paper, #fff) }
.heed .box { fill: var(--box, #eef1f5) } .heed .soft { fill: var(--soft, #5c6370) }
.heed .accent { fill: var(--accent, #08418a) } .heed .mark { fill: var(--mark, #c8102e) }
.heed .outline { stroke: var(--accent, #08418a) } .heed .wire { stroke: var(--soft, #5c6370) }
.heed .frame { stroke: var(--line, #888) }
.heed .heat-0 { fill: var(--heat-0, #f7fbff); stop-color: var(--heat-0, #f7fbff) }
.heed .heat-50 { fill: var(--heat-50, #6baed6); stop-color: var(--heat-50, #6baed6) }
.heed .heat-100 { fill: var(--heat-100, #08306b); stop-color: var(--heat-100, #08306b) }
@media (prefers-color-scheme: dark) { svg:root { --ink: #e6e8eb; --soft: #a0a7b3; --paper: #16181c; --box: #262b33;
  --line: #4a505b; --accent: #8cc4ff; --mark: #ff7584; --heat-0: #1b2028; --heat-50: #326da5; --heat-100: #c6e2ff }
  :where(svg:root [pointer-events="none"]) text { fill: #fff } }
</style>
)";

std::string escaped(const std::string& text) {
  const std::string safe = replaced(replaced(text, "&", "&amp;"), "<", "&lt;");
  return replaced(replaced(safe, ">", "&gt;"), "\"", "&quot;");
}

std::string svg_begin(double width, double height, std::string_view attributes) {
  return line(R"(<svg xmlns="http://www.w3.org/2000/svg" class="heed" width="{}" height="{}" )"
              R"(viewBox="0 0 {} {}" fill="#222" {}>)",
              width, height, width, height, attributes) +
         kSvgStyle + line(R"(<rect class="paper" width="{}" height="{}" fill="#fff"/>)", width, height);
}

std::string filled(std::string_view page, const std::map<std::string_view, std::string>& texts) {
  std::string text;
  while (true) {
    const size_t at = page.find("{{");
    text += page.substr(0, at);
    if (at == page.npos) return text;
    const size_t end = page.find("}}", at);
    text += texts.at(page.substr(at + 2, end - at - 2));
    page.remove_prefix(end + 2);
  }
}

std::string script_json(const std::string& json) { return replaced(json, "<", "\\u003c"); }

Lines wrapped(const std::string& text, int64_t columns) {
  Lines lines;
  std::string line;
  for (const std::string& character : split_characters(text, true)) {
    line += character;
    if (display_width(line) <= columns) continue;
    const size_t space = line.rfind(' ');
    const bool at_space = space != line.npos && space > 0;
    const size_t end = at_space ? space : line.size() - character.size();
    lines.push_back(line.substr(0, end));
    line.erase(0, at_space ? space + 1 : end);
  }
  if (!text.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace heed::detail
