#include "tests/support/browser.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>

bool has_browser() {
  const bool has = std::system("command -v chromium > /dev/null 2>&1") == 0;
  if (!has) MESSAGE("skipped: chromium is not installed (.ci/setup.sh ci)");
  return has;
}

Tab& shared_tab() {
  static std::unique_ptr<Tab> tab;
  if (!tab || tab->is_lost()) {
    tab.reset();
    tab = std::make_unique<Tab>(2400);
  }
  tab->open("about:blank");
  tab->console();  // what the page before left
  return *tab;
}

Visit visit(const std::string& path, const std::string& script, int width, Scheme scheme) {
  Tab& tab = shared_tab();
  tab.resize(width, 800);
  tab.prefer(scheme);
  tab.open("file://" + path);
  tab.settle();
  const std::string result = tab.notes(script);
  return {tab.console(), result};
}

// A canvas in an empty page reads the pixels.
Screenshot screenshot(const std::string& path, int width, int height) {
  Tab& tab = shared_tab();
  tab.resize(width, height);
  tab.open("file://" + path);
  tab.evaluate("document.fonts.ready.then(() => {})");
  tab.settle();
  const std::string png = tab.send("Page.captureScreenshot")["data"];
  tab.open("about:blank");
  Screenshot shot{width, height, {}};
  const Json shades =
      tab.evaluate("(async () => { const shot = new Image(); shot.src = 'data:image/png;base64," + png +
                   R"js('; await shot.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [shot.naturalWidth, shot.naturalHeight];
    const context = canvas.getContext('2d');
    context.drawImage(shot, 0, 0);
    const {data} = context.getImageData(0, 0, canvas.width, canvas.height), shades = [];
    for (let i = 0; i < data.length; i += 4) shades.push(Math.round((data[i] + data[i + 1] + data[i + 2]) / 3));
    return shades; })())js");
  shot.shades = shades.get<std::vector<uint8_t>>();
  REQUIRE(shot.shades.size() == static_cast<size_t>(width) * static_cast<size_t>(height));
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
