#include "tests/support/browser.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/program.h"

bool has_browser() {
  const bool has = std::system("command -v chromium > /dev/null 2>&1") == 0;
  if (!has) MESSAGE("skipped: chromium is not installed (.ci/setup.sh ci)");
  return has;
}

// The page is opened in a frame, since Chromium's window has at least 500 pixels.
Visit visit(const std::string& path, const std::string& script, int width) {
  const Folder folder;
  const std::string page = path + ".visited.html";
  std::ofstream(page) << read_file(path)
                      << "<pre id=result style='display:none'></pre><script>{const note = x => "
                         "document.getElementById('result').append(x + '\\n');\n"
                      << script << "}</script>";
  const std::string frame = folder.write(
      "frame.html",
      "<iframe id=page width=" + std::to_string(width) + " height=800 src='file://" + page +
          "'></iframe><pre id=result></pre><script>const [page, result] = "
          "['page', 'result'].map(id => document.getElementById(id)); page.onload = () => setTimeout("
          "() => result.append(page.contentDocument.getElementById('result').textContent), 200)</script>");
  const std::string command =
      "timeout 100 chromium --headless=new --no-sandbox --disable-gpu --window-size=1600,900 "
      "--allow-file-access-from-files --user-data-dir=" +
      (folder / "profile") +
      " --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --v=0 "
      "--virtual-time-budget=5000 --dump-dom file://" +
      frame + " > " + (folder / "dom") + " 2> " + (folder / "log");
  const int status = std::system(command.c_str());
  std::filesystem::remove(page);
  REQUIRE(status == 0);
  Visit seen;
  for (const std::string& line : lines_of(read_file(folder / "log")))
    if (line.find("CONSOLE") != std::string::npos) seen.console += line + "\n";
  const std::string dom = read_file(folder / "dom"), mark = "<pre id=\"result\">";
  const size_t begin = dom.find(mark) + mark.size();
  seen.result = dom.substr(begin, dom.find("</pre>", begin) - begin);
  return seen;
}

const char* const kLayoutFaults = R"js(
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) note(`${root.scrollWidth} pixels in a window of ${innerWidth}`);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
    if (!text || !parent.getClientRects().length || parent.closest('script, style, noscript')) continue;
    const drawing = parent.closest('svg')?.getScreenCTM?.(), scale = drawing ? Math.hypot(drawing.a, drawing.b) : 1;
    const size = parseFloat(getComputedStyle(parent).fontSize) * scale;
    if (size < 9.99) note(`"${text}" has ${size.toFixed(1)} pixels`);
  }
)js";
