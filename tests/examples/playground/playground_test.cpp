#include "examples/playground/functions.h"
#include "tests/support/reader.h"
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

TEST_CASE("playground: in Chromium nothing is cut, small or pale, in both languages" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  CHECK(std::filesystem::file_size(playground_page()) < 2'500'000);
  reader.wait_until("eyes.one('[name=translators] .translations p:nth-of-type(2)')");
  for (const char* language : {"en", "zh"})
    for (const int width : {1280, 800, 400})
      for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
        INFO(language, ", ", width, " pixels wide, ", scheme == Scheme::light ? "light" : "dark");
        reader.tab.prefer(scheme);
        reader.look({width, language});
        CHECK(reader.tab.evaluate("dark.matches") == (scheme == Scheme::dark));
        CHECK(reader.tab.notes(std::string("{") + kLayoutFaults + "}{" + kContrastFaults + "}") == "");
        CHECK(reader.tab.console() == "");
      }
}

TEST_CASE("playground: in Chromium the arrow keys move every handle" * doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Tab& tab = opened->tab;
  const int handles = tab.evaluate(R"js(
    eyes.handles = [...document.querySelectorAll('g[role=slider]')].filter(eyes.isVisible);
    eyes.texts = () => eyes.handles.map(handle => handle.getAttribute('aria-valuetext'));
    eyes.before = eyes.texts();
    eyes.staying = () => eyes.texts().flatMap((text, i) =>
        text === eyes.before[i] ? [`${eyes.words(eyes.handles[i])} stays at ${text}`] : []);
    eyes.handles.length)js");
  CHECK(handles > 50);
  for (int i = 0; i < handles; ++i) {
    tab.evaluate("eyes.handles[" + std::to_string(i) + "].focus()");
    for (const char* key : {"ArrowRight", "ArrowUp"}) tab.key(key);
  }
  for (int i = 0; i < 600 && tab.evaluate("eyes.staying().length > 0") == true; ++i) opened->settle();
  CHECK(tab.evaluate("eyes.staying()") == Json::array());
  CHECK(tab.console() == "");
}
