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

// The script in the language once the benches have drawn.
std::string when_drawn(const std::string& in_language, const std::string& script) {
  return "window.waiting = true;\nloaded.then(() => setTimeout(() => {\nif (language !== '" + in_language +
         "') switchTo('" + in_language + "');\nsetTimeout(() => { try {" + script +
         "} finally { window.waiting = false; } }, 1000);\n}));";
}

}  // namespace

TEST_CASE("playground: in Chromium nothing is cut, small or pale, in both languages" *
          doctest::test_suite("slow")) {
  const Folder folder;
  const std::string page = playground_in(folder);
  if (page.empty()) return;
  CHECK(std::filesystem::file_size(page) < 2'500'000);
  for (const char* language : {"en", "zh"})
    for (const int width : {1280, 800, 400})
      for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
        INFO(language, ", ", width, " pixels wide, ", scheme == Scheme::light ? "light" : "dark");
        const std::string script = std::string("{") + kLayoutFaults + "}{" + kContrastFaults + "}";
        const Visit seen = visit(page, when_drawn(language, script), width, scheme);
        CHECK(seen.console == "");
        CHECK(seen.result == "");
      }
}

TEST_CASE("playground: in Chromium the arrow keys move every handle" * doctest::test_suite("slow")) {
  const Folder folder;
  const std::string page = playground_in(folder);
  if (page.empty()) return;
  const Visit seen = visit(page, when_drawn("en", R"js(
    const handles = [...document.querySelectorAll('g[role=slider]')].filter(handle => handle.getClientRects().length);
    const texts = () => handles.map(handle => handle.getAttribute('aria-valuetext')), before = texts();
    for (const handle of handles)
      for (const key of ['ArrowRight', 'ArrowUp'])
        handle.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
    setTimeout(() => {  // the frames in between draw
      texts().forEach((text, i) => { if (text === before[i]) note(`${handles[i].getAttribute('aria-label')} stays at ${text}`); });
      note(`${handles.length > 50} handles`);
      window.isDone = true;
    }, 2500);
    Object.defineProperty(window, 'waiting', {get: () => !window.isDone, set: () => {}});)js"));
  CHECK(seen.console == "");
  CHECK(seen.result == "true handles\n");
}
