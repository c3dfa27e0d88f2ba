// The page for everybody, in Chromium: fingers that scroll, large targets, tables, lines for screen readers,
// less motion, and links that keep a situation.

#include "tests/support/reader.h"

namespace {

const Texts kBenches = {"regression", "plane", "tokens", "translators", "tape", "length"};

// In each bench a situation that is not the first one.
void change_each_bench(Reader& reader) {
  reader.drag(Reader::control("regression", "point", {{"i", 20}, {"n", 50}}), 25, -35);
  reader.slide(Reader::control("regression", "w"), 1.5);
  reader.slide(Reader::control("regression", "noise"), 0.75);
  reader.press(Reader::option("regression", "kernel", "kernel.triangular"));
  reader.drag(Reader::control("plane", "key", {{"i", 3}}), 31, 17);
  reader.press(Reader::option("plane", "score", "score.additive"));
  reader.drag(Reader::control("plane", "column", {{"c", 2}}), -13, 7);
  reader.drag(Reader::part("tokens", ".word", 2), 19, -23);
  reader.press(Reader::control("tokens", "shuffle"));
  reader.press(Reader::control("tokens", "causal"));
  reader.press(Reader::option("tokens", "heads", "2"));
  reader.slide(Reader::control("tokens", "turn", {{"name", "O"}}), 35);
  reader.slide(Reader::control("translators", "state"), 13);
  reader.pick(Reader::picture("translators", "alignment"), 1, 1);
  reader.write(Reader::control("tape", "text"), "y = sum(softmax([1, 2, 3] * a) * [1, 4, 3] * b)");
  reader.slide(Reader::part("tape", ".leaf input"), 1.35);
  reader.slide(Reader::control("tape", "step"), 7);
  reader.press(Reader::option("tape", "order", "order.early"));
  reader.slide(Reader::control("length", "T"), 37);
  reader.slide(Reader::control("length", "factor"), 0.97);
  reader.press(Reader::option("length", "block", "4"));
  reader.press(Reader::control("length", "on"));
  reader.wait_until("eyes.one('[name=translators] .translations p:nth-of-type(4)')");
}

// The tables of all benches and the values of their handles and sliders.
Json numbers_of_page(Reader& reader) {
  Json all;
  for (const std::string& bench : kBenches) {
    all[bench]["tables"] = reader.tables(bench);
    all[bench]["controls"] = reader.tab.evaluate("eyes.values('" + bench + "')");
  }
  return all;
}

}  // namespace

TEST_CASE("page: a link keeps the situation of each bench, with the same numbers" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  change_each_bench(reader);
  const Json before = numbers_of_page(reader);
  reader.wait_until("location.hash === '#' + fragmentText(fragment)");  // the address follows
  const std::string fragment = reader.tab.evaluate("location.hash.slice(1)");
  CHECK(fragment.size() < 2000);
  reader.open(fragment);
  reader.wait_until("eyes.one('[name=translators] .translations p:nth-of-type(4)')");
  const Json after = numbers_of_page(reader);
  for (const std::string& bench : kBenches) {
    CAPTURE(bench);
    CHECK(before[bench]["controls"] == after[bench]["controls"]);
    CHECK(before[bench]["tables"] == after[bench]["tables"]);
  }
  CHECK(reader.tab.console() == "");
}

TEST_CASE("page: the switch of the language keeps state, place and focus" * doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  change_each_bench(reader);
  const Json before = numbers_of_page(reader);
  for (const std::string& bench : kBenches) {
    CAPTURE(bench);
    reader.tab.evaluate("eyes.bench('" + bench +
                        "').scrollIntoView({behavior: 'instant'}); scrollBy(0, 100)");
    const double top = reader.tab.evaluate("eyes.bench('" + bench + "').getBoundingClientRect().top");
    for (int i = 0; i < 2; ++i) {
      reader.press("eyes.language()");
      CHECK(reader.tab.evaluate("document.activeElement === eyes.language()") == true);
      reader.settle();
      const double now = reader.tab.evaluate("eyes.bench('" + bench + "').getBoundingClientRect().top");
      CHECK(std::abs(now - top) < 60);  // texts of both languages have different heights
    }
  }
  reader.wait_until("eyes.one('[name=translators] .translations p:nth-of-type(4)')");
  CHECK(numbers_of_page(reader) == before);
  CHECK(reader.tab.console() == "");
}

TEST_CASE("page: a finger that begins on a picture, not on a handle, scrolls the page" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  for (const int width : {400, 800}) {
    CAPTURE(width);
    reader.look({width, "en"});
    const int pictures = reader.tab.evaluate("eyes.pictures().length");
    CHECK(pictures > 15);
    const auto scrolls_from = [&](const Json& place) {
      const Json states = reader.tab.evaluate("eyes.states()");
      const double x = place[0], y = place[1], before = reader.tab.evaluate("scrollY");
      reader.move_from(x, y, 0, -160, Hand::finger);
      reader.wait_until("scrollY > " + std::to_string(before + 100));
      const Json now = reader.tab.evaluate("eyes.states()");
      for (size_t i = 0; i < states.size(); ++i) CHECK(now[i] == states[i]);
    };
    for (int i = 0; i < pictures; ++i) {
      CAPTURE(i);
      scrolls_from(reader.tab.evaluate("eyes.besideHandles(eyes.pictures()[" + std::to_string(i) + "])"));
    }
    // Of many points a finger drags only the chosen one.
    scrolls_from(reader.tab.evaluate("eyes.placeOf(" +
                                     Reader::control("regression", "point", {{"i", 30}, {"n", 50}}) + ")"));
    scrolls_from(reader.tab.evaluate("eyes.placeOf(" + Reader::control("length", "T") + ")"));
  }
}

TEST_CASE("page: every control is a target of 44 pixels, has words, and is reached by Tab" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  for (const int width : {1280, 800, 400}) {
    CAPTURE(width);
    reader.look({width, width == 800 ? "zh" : "en"});
    reader.tab.evaluate("for (const details of document.querySelectorAll('details')) details.open = true;");
    reader.settle();
    CHECK(reader.tab.evaluate("eyes.small()") == Json::array());
  }
  const int controls =
      reader.tab.evaluate("document.activeElement.blur(), eyes.tabs = new Set(), eyes.tabbable().length");
  CHECK(controls > 80);
  for (int i = 0; i < 2 * controls; ++i) {
    reader.tab.key("Tab");
    if (reader.tab.evaluate(
            "eyes.tabs.size === eyes.tabs.add(document.activeElement).size && document.activeElement "
            "!== document.body"))
      break;
  }
  CHECK(reader.tab.evaluate("eyes.tabbable().filter(node => !eyes.tabs.has(node)).map(eyes.words)") ==
        Json::array());
}

TEST_CASE("page: a table with numbers stands behind the pictures of each bench" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  for (const std::string& bench : kBenches) {
    CAPTURE(bench);
    const Json tables = reader.tables(bench);
    CHECK(tables.size() >= (bench == "tape" ? 1 : 3));
    for (const Json& rows : tables) {
      CHECK((rows.size() >= 2 || bench == "length"));  // nothing is measured yet
      for (const Json& row : rows) CHECK(row.size() == rows[0].size());
    }
  }
  CHECK(reader.tab.evaluate(
            "[...document.querySelectorAll('svg.plot')].filter(one => !one.ariaLabel).length") == 0);
}

TEST_CASE("page: screen readers hear at most a line a second while something moves" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  const auto is_calm = [&](const std::string& what, const std::function<void(int)>& act) {
    CAPTURE(what);
    reader.tab.evaluate("new Promise(done => { setTimeout(() => { eyes.listen(); done(); }, 1100); })");
    for (int i = 0; i < 40; ++i) {
      act(i);
      for (int frame = 0; frame < 2; ++frame) reader.settle();
    }
    CHECK(reader.tab.evaluate("eyes.tooOften()") == Json::array());
  };
  const auto shakes = [&](const std::string& target) {
    const Json place = reader.tab.evaluate("eyes.placeOf(" + target + ")");
    const double x = place[0], y = place[1];
    reader.tab.mouse("mousePressed", x, y);
    is_calm(target, [&](int i) { reader.tab.mouse("mouseMoved", x + (i * 7) % 40, y - (i * 5) % 30); });
    reader.tab.mouse("mouseReleased", x, y);
  };
  shakes(Reader::control("regression", "point", {{"i", 20}, {"n", 50}}));
  shakes(Reader::control("plane", "key", {{"i", 3}}));
  shakes(Reader::part("tokens", ".word", 2));
  for (const std::string& slider : {Reader::control("translators", "state"),
                                    Reader::part("tape", ".leaf input"), Reader::control("length", "T")}) {
    reader.tab.evaluate(slider + ".focus()");
    is_calm(slider, [&](int i) { reader.tab.key(i % 10 < 6 ? "ArrowRight" : "ArrowLeft"); });
  }
  for (const std::string& button :
       {Reader::control("regression", "learn"), Reader::control("plane", "learn"),
        Reader::control("length", "measure"), Reader::control("translators", "learn")}) {
    reader.press(button);
    is_calm(button, [](int) {});
  }
}

TEST_CASE("page: with less motion a press is a step" * doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  reader.tab.prefer(Scheme::light, true);
  reader.open();
  // After a press the page changes once, and rests.
  const auto steps = [&](const std::string& button, const std::string& value) {
    CAPTURE(button);
    const Json before = reader.tab.evaluate(value);
    reader.press(button);
    reader.wait_until(value + " !== " + before.dump());
    reader.settle();
    const Json after = reader.tab.evaluate(value);
    reader.tab.evaluate("new Promise(done => setTimeout(done, 1300))");
    CHECK(reader.tab.evaluate(value) == after);
  };
  for (int i = 0; i < 2; ++i) {
    steps(Reader::control("regression", "learn"), "eyes.one('[name=regression] .reach output').textContent");
    steps(Reader::control("plane", "learn"), "eyes.one('[name=plane] .row > output').textContent");
    steps(Reader::control("tape", "play"), "eyes.one('[name=tape] .reach output').textContent");
  }
  reader.press(Reader::control("translators", "learn"));
  reader.wait_until(Reader::control("translators", "on"));  // after the first state
  CHECK(reader.numbers("[name=translators] .reach output") == std::vector<double>{10});
}
