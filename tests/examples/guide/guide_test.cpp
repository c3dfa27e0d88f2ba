#include "tests/support/browser.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

TEST_CASE("guide: all programs run, and each page is complete" * doctest::test_suite("slow")) {
  const Folder folder;
  const Run run = run_shell("cd '" + folder.path.string() + "' && '" HEED_BINARY_DIR "/examples/guide'");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  for (const char* page : {"out/guide/index.html", "out/guide/index.zh.html"}) {
    const std::string text = read_file(folder / page);
    for (const char* part :
         {"id=\"C-000-01\"", "id=\"C-100-08\"", "<math", "class=\"command\"", "class=\"source\""})
      CHECK(contains(text, part));
    for (const char* gap : {"{.run", "{.code", "<code>=", "src=\"http", "$$"}) CHECK(!contains(text, gap));
  }
  if (!has_browser()) return;
  for (const char* page : {"out/guide/index.html", "out/guide/index.zh.html"})
    for (const int width : {1280, 800, 400}) {
      INFO(page, ", ", width, " pixels wide");
      const Visit seen = visit(folder / page, std::string(kLayoutFaults) + R"js(
        for (const image of document.images) if (!image.naturalWidth) note(image.src + ' is not there');
        for (const {name} of performance.getEntriesByType('resource'))
          if (!name.startsWith('file:')) note('a request: ' + name);
        for (const link of document.querySelectorAll('a[href^="#"]'))
          if (!document.getElementById(decodeURIComponent(link.hash.slice(1)))) note(link.hash + ' leads nowhere');
      )js",
                               width);
      CHECK(seen.console == "");
      CHECK(seen.result == "");
    }
}
