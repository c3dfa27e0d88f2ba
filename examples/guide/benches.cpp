#include "examples/guide/benches.h"

#include "examples/guide/pictures.h"
#include "examples/playground/page.h"
#include "nn/files/text_file.h"
#include "nn/view/markup.h"

namespace program {

using heed::read_bytes;
using heed::detail::escaped, heed::detail::line;

namespace {

std::string table_of(const std::vector<std::vector<std::string>>& rows) {
  std::string html;
  for (const std::vector<std::string>& row : rows) {
    const bool names = &row == &rows.front();
    html += "<tr>";
    for (const std::string& cell : row)
      html += names ? "<th scope=\"col\">" + escaped(cell) + "</th>" : "<td>" + escaped(cell) + "</td>";
    html += "</tr>\n";
  }
  return "<table>\n" + html + "</table>\n";
}

constexpr const char* kPlayground = HEED_SOURCE_DIR "/examples/playground/page";

// How to get the bench instead of its picture.
std::string way_to_run(const BenchParts& parts) {
  if (parts.runs)
    return parts.language.chinese ? "这幅图不会动，因为浏览器没有运行 JavaScript 或 WebAssembly。"
                                  : "This picture does not move, because the browser does not run JavaScript "
                                    "or WebAssembly.";
  return parts.language.chinese
             ? "这幅图不会动。想动手试，请依次运行 <code>.ci/setup.sh wasm</code>、<code>./examples/run.sh "
               "playground</code> 和 <code>./examples/run.sh guide</code>。"
             : "This picture does not move. To try it with your own hands, run <code>.ci/setup.sh "
               "wasm</code>, <code>./examples/run.sh playground</code> and <code>./examples/run.sh "
               "guide</code>.";
}

}  // namespace

std::string bench_element(const std::string& name, const std::string& at, const std::string& state,
                          const BenchParts& parts) {
  const Still still = still_of(name, state, parts.words, parts.record);
  const auto word = [&](const std::string& key) { return escaped(parts.words(key)); };
  return line(R"(<heed-bench name="{}" at="{}" state="{}">)", name, escaped(at), escaped(state)) +
         line("<h3>{}</h3>\n<p>{}</p>", word(name + ".title"), word(name + ".lead")) +
         line(R"(<div class="still scroll">{}</div>)",
              inline_svg(still.picture, name + "-" + at + "-", parts.words(name + ".title"))) +
         line("<p>{}</p>", way_to_run(parts)) +
         line("<details><summary>{}</summary>\n{}</details>", word("page.table"), table_of(still.table)) +
         "</heed-bench>\n";
}

// A function keeps its names apart from those of page.js.
std::string script_of_benches(const std::string& record) {
  return "(() => {\n" + benches_script(kPlayground, playground_wasm(), record) + "})();\n";
}

std::string style_of_pages(const std::string& font) {
  const std::string style = read_bytes(HEED_SOURCE_DIR "/examples/guide/page.css");
  return read_bytes(HEED_SOURCE_DIR "/nn/view/look.css") + font +
         heed::detail::filled(style, {{"dark-heat-scale", dark_heat_scale()}}) + benches_style(kPlayground);
}

}  // namespace program
