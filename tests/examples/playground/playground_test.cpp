#include "tests/support/playground.h"
#include "examples/playground/functions.h"
#include "tests/support/results.h"

TEST_CASE("playground: --json has the first request of each function and its answer") {
  const Json results = results_of("playground", "");
  CHECK(results.size() == program::functions().size());
  for (const program::Function& function : program::functions()) {
    const Json& one = results[function.name];
    CHECK(one["request"].get<std::vector<float>>() == function.first_request());
    CHECK(one["answer"].get<std::vector<float>>() == function.run(function.first_request()));
  }
}

namespace {

Tab& playground_tab(const std::string& page) {
  Tab& tab = shared_tab();
  tab.open("file://" + page + "#lang=en");
  tab.wait_until("document.querySelector('heed-bench')");
  tab.wait_until(kBenchesAreDrawn);
  return tab;
}

}  // namespace

TEST_CASE("playground: in Chromium nothing is cut, small or pale, in both languages" *
          doctest::test_suite("slow")) {
  const Folder folder;
  const std::string page = playground_in(folder);
  if (page.empty()) return;
  CHECK(std::filesystem::file_size(page) < 2'500'000);
  Tab& tab = playground_tab(page);
  for (const std::string language : {"en", "zh"}) {
    tab.evaluate("language === '" + language + "' || switchTo('" + language + "')");
    for (const int width : {1280, 800, 400})
      for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
        INFO(language, ", ", width, " pixels wide, ", scheme == Scheme::light ? "light" : "dark");
        tab.look(width, scheme);
        CHECK(tab.notes(std::string("{") + kLayoutFaults + "}{" + kContrastFaults + "}") == "");
      }
  }
  CHECK(tab.console() == "");
}

TEST_CASE("playground: in Chromium the arrow keys move every handle" * doctest::test_suite("slow")) {
  const Folder folder;
  const std::string page = playground_in(folder);
  if (page.empty()) return;
  Tab& tab = playground_tab(page);
  tab.look(1280, Scheme::light);
  CHECK(tab.notes(R"js(
    const handles = [...document.querySelectorAll('g[role=slider]')].filter(handle => handle.getClientRects().length);
    const texts = () => handles.map(handle => handle.ariaValueText), before = texts();
    for (const handle of handles)
      for (const key of ['ArrowRight', 'ArrowUp'])
        handle.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
    const still = () => handles.filter((handle, i) => handle.ariaValueText === before[i]);
    for (const end = performance.now() + 6e4; still().length && performance.now() < end;)  // frames draw
      await new Promise(done => setTimeout(done, 50));
    for (const handle of still()) note(`${handle.ariaLabel} stays at ${handle.ariaValueText}`);
    note(`${handles.length > 50} handles`);)js") == "true handles\n");
  CHECK(tab.console() == "");
}
