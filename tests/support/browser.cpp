#include "tests/support/browser.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/program.h"

namespace fs = std::filesystem;

namespace {

// Runs Chromium without a window and returns what it printed; its log goes to folder/log.
std::string chromium(const Folder& folder, const std::string& arguments) {
  const std::string command =
      "timeout 200 chromium --headless=new --no-sandbox --disable-gpu "
      "--allow-file-access-from-files --hide-scrollbars --user-data-dir=" +
      (folder / "profile") +
      " --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --v=0 "
      "--virtual-time-budget=5000 " +
      arguments + " > " + (folder / "printed") + " 2> " + (folder / "log");
  REQUIRE(std::system(command.c_str()) == 0);
  return read_file(folder / "printed");
}

std::string base64_of(const std::string& path) { return run_shell("base64 -w 0 '" + path + "'").out; }

}  // namespace

bool has_browser() {
  const bool has = std::system("command -v chromium > /dev/null 2>&1") == 0;
  if (!has) MESSAGE("skipped: chromium is not installed (.ci/setup.sh ci)");
  return has;
}

Visit visit(const std::string& path, const std::string& script, int width, Scheme scheme) {
  Visit seen = visit_all({path}, script, width, scheme);
  std::string result;
  const std::string name = fs::path(path).filename().string() + ": ";
  for (const std::string& line : lines_of(seen.result)) result += line.substr(name.size()) + "\n";
  return {seen.console, result};
}

// The pages are opened in frames, since Chromium's window has at least 500 pixels.
Visit visit_all(const std::vector<std::string>& paths, const std::string& script, int width, Scheme scheme) {
  const Folder folder;
  std::string frames;
  for (const std::string& path : paths) {
    std::ofstream(path + ".visited.html")
        << read_file(path)
        << "<pre id=result style='display:none'></pre><script>{const note = x => "
           "document.getElementById('result').append(x + '\\n');\n"
        << script << "}</script>";
    frames += "<iframe width=" + std::to_string(width) + " height=800 src='file://" + path +
              ".visited.html' title='" + fs::path(path).filename().string() + "'></iframe>";
  }
  const std::string page =
      folder.write("frames.html", "<meta name=color-scheme content='light dark'>" + frames +
                                      R"js(<pre id=result></pre><script>
            const frames = [...document.querySelectorAll('iframe')];
            const collect = () => {
              if (frames.some(frame => frame.contentWindow.waiting)) return setTimeout(collect, 50);
              for (const frame of frames)
                for (const line of frame.contentDocument.getElementById('result').textContent.split('\n').slice(0, -1))
                  document.getElementById('result').append(frame.title + ': ' + line + '\n');
            };
            onload = () => setTimeout(collect, 200);
          </script>)js");
  const std::string dom =
      chromium(folder, "--window-size=1600,900 --blink-settings=preferredColorScheme=" +
                           std::string(scheme == Scheme::dark ? "0" : "1") + " --dump-dom file://" + page);
  for (const std::string& path : paths) fs::remove(path + ".visited.html");
  Visit seen;
  for (const std::string& line : lines_of(read_file(folder / "log")))
    if (line.find("CONSOLE") != std::string::npos) seen.console += line + "\n";
  const std::string mark = "<pre id=\"result\">";
  const size_t begin = dom.find(mark) + mark.size();
  seen.result = dom.substr(begin, dom.find("</pre>", begin) - begin);
  return seen;
}

// A canvas in a second page reads the pixels of the first one's picture.
Screenshot screenshot(const std::string& path, int width, int height) {
  const Folder folder;
  const std::string size = std::to_string(width) + "," + std::to_string(height);
  chromium(folder, "--window-size=" + size + " --screenshot=" + (folder / "page.png") + " file://" + path);
  const std::string reader = folder.write(
      "reader.html", "<img id=shot src='data:image/png;base64," + base64_of(folder / "page.png") + "'>");
  const Visit seen = visit(reader, R"js(
    addEventListener('load', () => {
      const shot = document.getElementById('shot'), canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [shot.naturalWidth, shot.naturalHeight];
      const context = canvas.getContext('2d');
      context.drawImage(shot, 0, 0);
      const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
      let shades = '';
      for (let i = 0; i < data.length; i += 4)
        shades += Math.round((data[i] + data[i + 1] + data[i + 2]) / 3).toString(16).padStart(2, '0');
      note(`${canvas.width} ${canvas.height} ${shades}`);
    });
  )js");
  CHECK(seen.console == "");
  std::istringstream result(seen.result);
  Screenshot shot{};
  std::string shades;
  result >> shot.width >> shot.height >> shades;
  REQUIRE(shades.size() == 2 * static_cast<size_t>(shot.width) * static_cast<size_t>(shot.height));
  for (size_t i = 0; i < shades.size(); i += 2)
    shot.shades.push_back(static_cast<uint8_t>(std::stoi(shades.substr(i, 2), nullptr, 16)));
  return shot;
}

const char* const kLayoutFaults = R"js(
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) note(`${root.scrollWidth} pixels in a window of ${innerWidth}`);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
    if (!text || !parent.getClientRects().length || parent.closest('script, style, noscript, title, annotation')) continue;
    const drawing = parent.closest('svg')?.getScreenCTM?.(), scale = drawing ? Math.hypot(drawing.a, drawing.b) : 1;
    const size = parseFloat(getComputedStyle(parent).fontSize) * scale;
    if (size < 9.99) note(`"${text}" has ${size.toFixed(1)} pixels`);
  }
  for (const text of document.querySelectorAll('svg text')) {
    const box = text.getBoundingClientRect(), picture = text.closest('svg').getBoundingClientRect();
    const out = Math.max(picture.left - box.left, box.right - picture.right, picture.top - box.top, box.bottom - picture.bottom);
    if (box.width && out > 2) note(`"${text.textContent.trim()}" is cut by ${out.toFixed(0)} pixels`);
  }
)js";

const char* const kContrastFaults = R"js(
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const painted = colors => {  // one over the other, from the lowest
    canvas.clearRect(0, 0, 1, 1);
    for (const [color, opacity] of colors) {
      canvas.fillStyle = color;
      canvas.globalAlpha = opacity;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = color => {
    const [r, g, b] = color.map(x => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), noted = new Set();
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
    if (!text || !parent.getClientRects().length || parent.closest('script, style, noscript, title, annotation')) continue;
    const behind = [];
    const svg = parent.closest('svg');
    if (svg) {  // what is drawn before and covers the middle of the text
      const box = parent.getBoundingClientRect(), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
      for (const shape of svg.querySelectorAll('rect, polygon')) {
        const place = shape.getBoundingClientRect(), style = getComputedStyle(shape);
        if (shape.closest('defs') || style.fill === 'none' || style.fill.startsWith('url')) continue;
        if (!(shape.compareDocumentPosition(parent) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
        if (place.left <= x && x <= place.right && place.top <= y && y <= place.bottom)
          behind.push([style.fill, style.fillOpacity]);
      }
    }
    for (let element = svg ?? parent; element; element = element.parentElement)
      behind.unshift([getComputedStyle(element).backgroundColor, 1]);
    const style = getComputedStyle(parent);
    const [paper, ink] = [painted(behind), painted([...behind, [svg ? style.fill : style.color, 1]])];
    const [high, low] = [light(paper), light(ink)].sort((a, b) => b - a), contrast = (high + 0.05) / (low + 0.05);
    const message = `contrast ${contrast.toFixed(1)} of rgb(${ink}) on rgb(${paper})`;
    if (contrast < 4.5 && !noted.has(message)) note(`${message}: "${text}"`);
    noted.add(message);
  }
)js";
