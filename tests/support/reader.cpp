#include "tests/support/reader.h"

namespace {

// What a reader does with the eyes.
const char* const kEyes = R"js(globalThis.eyes = {
  bench: name => document.querySelector(`heed-bench[name=${name}]`),
  isVisible: node => node.getClientRects().length > 0 && node.checkVisibility(),  // not in closed <details>
  words: node => (node.getAttribute('aria-label') ?? node.closest('label')?.querySelector('span').textContent ?? node.textContent).trim(),
  control(name, key, values) {
    const wanted = word(`${name}.${key}`, values ?? {});
    const found = [...eyes.bench(name).querySelectorAll('button, input, textarea, summary, [role=slider]')]
        .find(node => eyes.isVisible(node) && eyes.words(node) === wanted);
    if (!found) throw new Error(`no control "${wanted}" in ${name}`);
    return found;
  },
  option(name, group, answer) {
    const wanted = strings[language][`${name}.${answer}`] ?? answer, heading = word(`${name}.${group}`);
    const found = [...eyes.bench(name).querySelectorAll('[role=radiogroup]')]
        .find(node => node.getAttribute('aria-label') === heading)?.querySelectorAll('button');
    const one = [...found ?? []].find(node => node.textContent === wanted);
    if (!one) throw new Error(`no "${wanted}" for "${heading}" in ${name}`);
    return one;
  },
  // Scrolls to an element, unless it stays in reach and is seen: the page would move beneath it.
  bring(node) {
    if (node.closest('nav, .reach')) try { return eyes.middle(node); } catch {}
    node.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
  },
  // The middle of an element in the window, where nothing may cover it.
  placeOf(node) {
    eyes.bring(node);
    return eyes.middle(node);
  },
  middle(node) {
    return eyes.checked(node, node.querySelector('.hit') ?? node, box => [box.width / 2, box.height / 2]);
  },
  checked(node, part, where) {
    const box = part.getBoundingClientRect(), [dx, dy] = where(box), x = box.left + dx, y = box.top + dy;
    const seen = document.elementFromPoint(x, y), whole = node.closest('svg, label') ?? node;
    if (!whole.contains(seen)) throw new Error(`"${eyes.words(node)}" is behind ${seen?.outerHTML.slice(0, 99)}`);
    return [x, y];
  },
  // The middle of the thumb of a slider now and at a value; the thumb is 16 pixels wide.
  thumbs(node, value) {
    if (value < +node.min || value > +node.max) throw new Error(`"${eyes.words(node)}" has no ${value}`);
    eyes.bring(node);
    const share = value => (value - node.min) / (node.max - node.min);
    return [+node.value, value].map(one =>
        eyes.checked(node, node, box => [8 + share(one) * (box.width - 16), box.height / 2]));
  },
  // The middle of a cell of 44 pixels of a matrix.
  cell(node, row, column) {
    const cell = node.querySelectorAll('rect.cell')[row * eyes.columns(node) + column];
    cell.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    return eyes.checked(node, cell, box => [box.width / 2, box.height / 2]);
  },
  columns(node) {
    const tops = [...node.querySelectorAll('rect.cell')].map(cell => cell.getAttribute('y'));
    return tops.filter(top => top === tops[0]).length;
  },
  number: text => parseFloat(text.replace('−', '-')),
  numbers: text => (text.replaceAll('−', '-').match(/-?\d+(\.\d+)?(e-?\d+)?/g) ?? []).map(Number),
  one: selector => document.querySelector(selector),
  picture(name, caption) {
    const wanted = word(`${name}.${caption}`);
    return [...eyes.bench(name).querySelectorAll('figure')].find(one => one.firstChild.textContent.trim() === wanted).querySelector('svg');
  },
  async tables(name) {
    const details = [...eyes.bench(name).querySelectorAll('details')].find(one => eyes.words(one.firstChild) === word('page.table'));
    if (!details.open) {
      const filled = new Promise(done => details.addEventListener('toggle', done, {once: true}));
      details.firstChild.click();
      await filled;
    }
    return [...details.querySelectorAll('table')].map(table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent)));
  },
  // What the controls of a bench say.
  values: name => [...eyes.bench(name).querySelectorAll('input, [role=slider], [role=radio]')].filter(eyes.isVisible)
      .map(node => node.type === 'checkbox' ? node.checked : node.ariaValueText ?? node.ariaChecked ?? node.value),
  states: () => [...document.querySelectorAll('heed-bench')].map(({bench}) => JSON.stringify(bench.state)),
  language: () => document.querySelector('nav button'),
  waitForClick() {
    eyes.isClicked = false;
    addEventListener('click', () => { eyes.isClicked = true; }, {once: true, capture: true});
  },
  // A frame draws what was asked for; where that changes the size of a bench, the next one draws again.
  async settled() {
    for (let i = 0; i < 2; ++i) {
      await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
      if ([...document.querySelectorAll('heed-bench')].every(({bench}) => bench?.frame === undefined)) return;
    }
  },
};)js";

// What a reader who cannot see, or has only a finger, needs.
const char* const kNeeds = R"js(Object.assign(eyes, {
  pictures: () => [...document.querySelectorAll('svg.plot')].filter(eyes.isVisible),
  // A place in a picture at least 30 pixels from every handle.
  besideHandles(picture) {
    picture.scrollIntoView({block: 'center', behavior: 'instant'});
    const box = picture.getBoundingClientRect(), hits = [...picture.querySelectorAll('.hit')].map(hit => hit.getBoundingClientRect());
    const far = (x, y) => hits.every(hit => Math.hypot((hit.left + hit.right) / 2 - x, (hit.top + hit.bottom) / 2 - y) > 30);
    for (let y = Math.max(box.top + 4, 250); y < box.bottom; y += 7)
      for (let x = Math.max(box.left, 0) + 5; x < Math.min(box.right, innerWidth); x += 7)
        if (far(x, y) && picture.contains(document.elementFromPoint(x, y))) return [x, y];
    throw new Error(`no place beside the handles of ${picture.ariaLabel}`);
  },
  // A place inside an element, given as shares of its width and height.
  anyPlace(node, across, down) {
    node.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    const {left, top, width, height} = (node.querySelector('.hit') ?? node).getBoundingClientRect();
    return [left + across * width, top + down * height];
  },
  // What the page says of errors, and what no reader should see. A formula of the tape may have the value NaN.
  faults: () => [...document.querySelectorAll('.fault')].map(one => one.textContent).filter(Boolean),
  oddities: () => [...document.querySelectorAll('heed-bench')].flatMap(bench =>
      bench.innerText.match(bench.getAttribute('name') === 'tape' ? /.*(undefined|\[object).*/g : /.*(NaN|undefined|\[object).*/g) ?? []),
  // Controls that are smaller than 44 pixels or have no words.
  small: () => [...document.querySelectorAll('button, input, textarea, summary, select, nav a, [role=slider], rect.cell')]
      .filter(eyes.isVisible).flatMap(node => {
        if (node.matches('rect.cell') && !node.closest('.matrix')) return [];
        const part = node.type === 'checkbox' ? node.closest('label') : node.querySelector?.('.hit') ?? node;
        const {width, height} = part.getBoundingClientRect(), words = node.matches('rect') ? 'cell' : eyes.words(node);
        return width > 43.9 && height > 43.9 && words ? [] : [`${words}: ${width.toFixed(0)} x ${height.toFixed(0)}`];
      }),
  tabbable: () => [...document.querySelectorAll('button, input, textarea, summary, a, [role=slider], .matrix')]
      .filter(node => eyes.isVisible(node) && node.tabIndex === 0 && !node.disabled),
  // Notes when a live region of a bench has a new text. An <output> is one, too.
  listen() {
    eyes.heard = [];
    eyes.ear?.disconnect();
    eyes.ear = new MutationObserver(all => {
      for (const {target} of all) {
        const live = (target.closest ? target : target.parentElement)?.closest('[role=status], [role=alert], [aria-live], output');
        if (live && live.ariaLive !== 'off') eyes.heard.push({time: performance.now(), bench: live.closest('heed-bench'), text: live.textContent});
      }
    });
    eyes.ear.observe(document.querySelector('main'), {childList: true, characterData: true, subtree: true});
  },
  tooOften: () => [...document.querySelectorAll('heed-bench')].flatMap(bench => {
    const heard = eyes.heard.filter(one => one.bench === bench);
    return heard.filter(({time, text}, i) => i && text !== heard[i - 1].text && time - heard[i - 1].time < 900);
  }).map(({text}) => text).slice(0, 3),
});)js";

std::string quoted(const std::string& text) { return Json(text).dump(); }

}  // namespace

// The browser ends with the tests; three hours are more than the longest of them takes.
Reader::Reader(const std::string& page) : tab(3 * 3600), page_("file://" + page) {
  tab.send("Page.addScriptToEvaluateOnNewDocument", {{"source", std::string(kEyes) + kNeeds}});
}

Reader* open_playground(const std::string& fragment) {
  const std::string page = playground_page();
  if (page.empty()) return nullptr;
  static std::unique_ptr<Reader> reader;
  if (!reader || reader->tab.is_lost()) {
    reader.reset();
    reader = std::make_unique<Reader>(page);
  }
  reader->tab.prefer(Scheme::light);
  reader->tab.resize(1280, 800);
  reader->tab.open("about:blank");
  reader->tab.console();  // what the page before left
  reader->open(fragment);
  return reader.get();
}

void Reader::open(const std::string& fragment) {
  tab.open(page_ + "#" + fragment);
  wait_until(std::string("eyes.one('heed-bench') && ") + kBenchesAreDrawn);
}

void Reader::look(const Look& look) {
  tab.resize(look.width, 800);
  wait_until("innerWidth === " + std::to_string(look.width));
  tab.evaluate("language === " + quoted(look.language) + " || switchTo(" + quoted(look.language) + ")");
  for (int i = 0; i < 2; ++i) settle();  // the second frame scrolls
}

std::string Reader::control(const std::string& bench, const std::string& key, const Json& values) {
  return "eyes.control(" + quoted(bench) + "," + quoted(key) + "," + values.dump() + ")";
}
std::string Reader::option(const std::string& bench, const std::string& group, const std::string& answer) {
  return "eyes.option(" + quoted(bench) + "," + quoted(group) + "," + quoted(answer) + ")";
}

std::string Reader::picture(const std::string& bench, const std::string& caption) {
  return "eyes.picture(" + quoted(bench) + "," + quoted(caption) + ")";
}
std::string Reader::part(const std::string& bench, const std::string& selector, int index) {
  return "eyes.bench(" + quoted(bench) + ").querySelectorAll(" + quoted(selector) + ")[" +
         std::to_string(index) + "]";
}

std::pair<double, double> Reader::place_of(const std::string& target) {
  return tab.evaluate("eyes.placeOf(" + target + ")");
}

void Reader::press_at(double x, double y, Hand hand) {
  if (hand == Hand::finger) {
    tab.evaluate("eyes.waitForClick()");
    tab.tap(x, y);
    wait_until("eyes.isClicked");  // the browser makes a click of a tap later
  } else {
    tab.mouse("mousePressed", x, y);
    tab.mouse("mouseReleased", x, y);
  }
}

void Reader::move_from(double x, double y, double dx, double dy, Hand hand) {
  constexpr int kMoves = 4;
  const auto x_at = [&](int i) { return x + dx * i / kMoves; };
  const auto y_at = [&](int i) { return y + dy * i / kMoves; };
  if (hand == Hand::finger) {
    tab.touch({{"touchStart", x, y}, {"touchMove", x_at(1), y_at(1)}});
    for (int i = 2; i <= kMoves; ++i) tab.touch("touchMove", x_at(i), y_at(i));
    // A finger that does not rest for 80 ms flings the page, and the next tap only stops that.
    tab.evaluate("new Promise(done => setTimeout(done, 120))");
    return tab.touch("touchEnd", x + dx, y + dy);
  }
  tab.mouse("mousePressed", x, y);
  for (int i = 1; i <= kMoves; ++i) tab.mouse("mouseMoved", x_at(i), y_at(i));
  tab.mouse("mouseReleased", x + dx, y + dy);
}

void Reader::press(const std::string& target, Hand hand) {
  if (hand != Hand::keys) {
    const auto [x, y] = place_of(target);
    press_at(x, y, hand);
  } else if (tab.evaluate(target + ".role") == "radio") {  // arrows lead from the chosen one to the others
    const int steps = tab.evaluate("(() => { const all = [..." + target +
                                   ".parentNode.children], from = all.findIndex(one => one.tabIndex === 0); "
                                   "all[from].focus(); return all.indexOf(" +
                                   target + ") - from; })()");
    for (int i = 0; i < std::abs(steps); ++i) tab.key(steps > 0 ? "ArrowRight" : "ArrowLeft");
  } else {
    tab.evaluate(target + ".focus()");
    tab.key(tab.evaluate(target + ".type") == "checkbox" ? " " : "Enter");
  }
  settle();
}

void Reader::drag(const std::string& target, double dx, double dy, Hand hand) {
  if (hand == Hand::keys) {
    tab.evaluate(target + ".focus()");
    for (int i = 0; i < 2; ++i) {
      if (dx != 0) tab.key(dx > 0 ? "ArrowRight" : "ArrowLeft", true);
      if (dy != 0) tab.key(dy > 0 ? "ArrowDown" : "ArrowUp", true);
    }
  } else {
    const auto [x, y] = place_of(target);
    // A finger chooses one of many points before it drags it.
    if (hand == Hand::finger && tab.evaluate(target + ".tabIndex") == -1) {
      press_at(x, y, hand);
      settle();
    }
    move_from(x, y, dx, dy, hand);
  }
  settle();
}

void Reader::slide(const std::string& target, double value, Hand hand) {
  if (hand == Hand::keys) {
    const Json range =
        tab.evaluate("(({value, min, max, step}) => [+value, +min, +max, +step])(" + target + ")");
    tab.evaluate(target + ".focus()");
    const double now = range[0], step = range[3];
    if (value == range[1])
      tab.key("Home");
    else if (value == range[2])
      tab.key("End");
    else
      for (int i = 0; i < std::lround(std::abs(value - now) / step); ++i)
        tab.key(value > now ? "ArrowRight" : "ArrowLeft");
  } else {
    const std::vector<std::pair<double, double>> thumbs =
        tab.evaluate("eyes.thumbs(" + target + "," + Json(value).dump() + ")");
    move_from(thumbs[0].first, thumbs[0].second, thumbs[1].first - thumbs[0].first, 0, hand);
  }
  settle();
}

void Reader::pick(const std::string& picture, int row, int column, Hand hand) {
  if (hand == Hand::keys) {
    tab.evaluate(picture + ".focus()");
    for (int i = 0; i < 9; ++i) tab.key(i < 5 ? "ArrowUp" : "ArrowLeft");
    for (int i = 0; i < row; ++i) tab.key("ArrowDown");
    for (int i = 0; i < column; ++i) tab.key("ArrowRight");
  } else {
    const std::pair<double, double> place =
        tab.evaluate("eyes.cell(" + picture + "," + std::to_string(row) + "," + std::to_string(column) + ")");
    press_at(place.first, place.second, hand);
  }
  settle();
}

void Reader::write(const std::string& target, const std::string& text) {
  tab.evaluate("(node => { node.focus(); node.select(); })(" + target + ")");
  text.empty() ? tab.key("Delete") : tab.type(text);
  if (tab.evaluate(target + ".tagName") == "INPUT") tab.key("Enter");
  settle();
}

void Reader::settle() { tab.evaluate("eyes.settled()"); }

void Reader::wait_until(const std::string& expression) { tab.wait_until(expression); }

Json Reader::tables(const std::string& bench) { return tab.evaluate("eyes.tables(" + quoted(bench) + ")"); }

std::vector<double> Reader::column(const std::string& bench, int index, int table) {
  const Json values =
      tab.evaluate("eyes.tables(" + quoted(bench) + ").then(all => all[" + std::to_string(table) +
                   "].map(row => eyes.number(row[" + std::to_string(index) + "])))");
  std::vector<double> numbers;
  for (const Json& value : values) numbers.push_back(value.is_null() ? std::nan("") : value.get<double>());
  return numbers;
}

std::string Reader::text(const std::string& selector) {
  return tab.evaluate("document.querySelector(" + quoted(selector) + ").textContent");
}

std::vector<double> Reader::numbers(const std::string& selector) {
  return tab.evaluate("eyes.numbers(document.querySelector(" + quoted(selector) + ").textContent)");
}

bool Reader::has_found(const std::string& bench, const std::string& goal) {
  const std::string found = words(bench + ".found." + goal);
  return tab.evaluate("[...eyes.bench(" + quoted(bench) +
                      ").querySelectorAll('.found')].some(one => "
                      "one.textContent.endsWith(" +
                      quoted(found) + "))");
}

std::string Reader::words(const std::string& key) { return tab.evaluate("word(" + quoted(key) + ")"); }

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (!std::isnan(a[i]) || !std::isnan(b[i])) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

void for_each_hand(Reader& reader, const std::function<void(Hand)>& f) {
  bool is_chinese = false;
  for (const int width : {1280, 800, 400})
    for (const Hand hand : {Hand::mouse, Hand::keys, Hand::finger}) {
      if (hand == Hand::finger) is_chinese = !is_chinese;  // the next width begins in that language
      const std::string language = is_chinese ? "zh" : "en";
      CAPTURE(width);
      CAPTURE(language);
      CAPTURE(static_cast<int>(hand));
      reader.look({width, language});
      f(hand);
      CHECK(reader.tab.console() == "");
    }
}
