#include "examples/guide/benches.h"

#include "examples/playground/page.h"
#include "examples/playground/record.h"
#include "tests/support/expect.h"
#include "tests/support/playground.h"

using namespace program;

namespace {

const std::string& short_record() {
  static const std::string record = recorded_training(10);
  return record;
}

BenchParts parts_in(const GuideLanguage& language, bool runs) {
  return {language, bench_words(language.folder), short_record(), runs};
}

// A chapter with benches, and the script if they run; returns the path of the page.
std::string chapter_with(const Folder& folder, const GuideLanguage& language, bool runs,
                         const std::vector<std::array<std::string, 3>>& benches) {
  std::string body = "<h1 id=\"top\">1. A chapter</h1>\n<p>Text.</p>\n";
  for (const auto& [name, at, state] : benches)
    body +=
        "<h2 id=\"" + at + "\">A section</h2>\n" + bench_element(name, at, state, parts_in(language, runs));
  std::vector<Page> pages = {Page("index", body)};
  connect(pages, language);
  const auto text = [](const std::string& file) {
    return read_file(HEED_SOURCE_DIR "/examples/guide/" + file);
  };
  const PageParts parts = {text("page.html"), style_of_pages(""), text("page.js"), runs ? kBenchesFile : ""};
  if (runs) folder.write(kBenchesFile, script_of_benches(short_record()));
  return folder.write(pages[0].file(language), complete(pages, 0, language, parts));
}

bool can_run() {
  if (!has_browser()) return false;
  if (!has_playground_wasm()) MESSAGE("skipped: there is no playground.wasm (.ci/setup.sh wasm)");
  return has_playground_wasm();
}

const std::vector<std::array<std::string, 3>> kAllBenches = {{"regression", "C-000-15", "own=1"},
                                                             {"plane", "C-003-12", "normalizer=3"},
                                                             {"tokens", "C-100-01", ""},
                                                             {"translators", "C-003-05", "at=1"},
                                                             {"tape", "C-100-08", ""},
                                                             {"length", "C-002-13", ""}};

}  // namespace

TEST_CASE("benches: an element has its picture, its table, and the way to the bench that runs") {
  const std::string still = bench_element("regression", "C-000-15", "own=1&w=4", parts_in(kEnglish, false));
  for (const char* part : {"<heed-bench name=\"regression\" at=\"C-000-15\" state=\"own=1&amp;w=4\">",
                           "<h3>Regression is attention</h3>", "<div class=\"still scroll\"><svg ",
                           "f(q) = ", "<summary>The numbers behind the picture</summary>",
                           "<th scope=\"col\">weight</th>", "<code>./examples/run.sh playground</code>"})
    CHECK(contains(still, part));
  const std::string runs = bench_element("regression", "C-000-15", "", parts_in(kChinese, true));
  CHECK(contains(runs, "<h3>回归就是注意力</h3>"));
  CHECK(contains(runs, "浏览器没有运行 JavaScript"));
  CHECK(!contains(runs, "run.sh"));
  CHECK_ERROR_HAS(bench_element("none", "C-000-15", "", parts_in(kEnglish, true)), "there is no bench none");
}

TEST_CASE("benches: in Chromium a bench of a chapter answers to an arrow key and leaves the address alone" *
          doctest::test_suite("slow")) {
  if (!can_run()) return;
  const Folder folder;
  Tab& tab = shared_tab();
  tab.open("file://" +
           chapter_with(folder, kEnglish, true,
                        {{"regression", "C-000-15", "own=1&w=4"}, {"regression", "C-000-11", ""}}));
  tab.wait_until(kBenchesAreDrawn);
  tab.evaluate("globalThis.benches = [...document.querySelectorAll('heed-bench')], 0");
  const auto queries = [&] {
    return tab.evaluate("benches.map(one => one.querySelector('.handle.query').ariaValueText)");
  };
  CHECK(tab.evaluate("benches.map(({bench: {state}}) => [state.w, state.own])") == Json({{4, 1}, {1, 0}}));
  const Json before = queries();
  tab.evaluate("benches[0].querySelector('.handle.query').focus()");
  tab.key("ArrowRight");
  tab.settle();
  CHECK(queries()[0] != before[0]);
  CHECK(queries()[1] == before[1]);
  CHECK(tab.evaluate("location.hash") == "");
  const std::string link = tab.evaluate("benches[0].querySelector('.read a').getAttribute('href')");
  CHECK(link.starts_with(
      "playground.html#at=regression&lang=en&regression.own=1&regression.w=4&regression.query="));
  CHECK(tab.console() == "");
}

TEST_CASE("benches: in Chromium nothing is cut, small or pale, running or still" *
          doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const std::string script = std::string("{") + kLayoutFaults + "}{" + kContrastFaults + R"js(}
    const live = document.querySelectorAll('heed-bench.live').length, all = document.querySelectorAll('heed-bench');
    note(`${live} of ${all.length} run`);
    for (const one of all)
      if (!one.querySelector('svg').getBoundingClientRect().width || !live && !one.querySelector('table'))
        note(one.getAttribute('name') + ' has no picture or no table');)js";
  Tab& tab = shared_tab();
  for (const bool runs : {false, true}) {
    if (runs && !can_run()) continue;
    for (const GuideLanguage* language : {&kEnglish, &kChinese}) {
      const Folder folder;
      tab.open("file://" + chapter_with(folder, *language, runs, kAllBenches));
      if (runs) tab.wait_until(kBenchesAreDrawn);
      for (const int width : {1280, 800, 400})
        for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
          INFO(runs, " ", language->folder, ", ", width, " pixels wide, ", static_cast<int>(scheme));
          tab.look(width, scheme);
          CHECK(tab.notes(script) == (runs ? "6 of 6 run\n" : "0 of 6 run\n"));
        }
      CHECK(tab.console() == "");
    }
  }
}
