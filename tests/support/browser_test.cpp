#include "tests/support/browser.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

TEST_CASE("browser: layout faults and console errors are detected" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Folder folder;
  const std::string page = folder.write(
      "page.html",
      "<!DOCTYPE html><p>fine</p><p style='font-size: 6px'>tiny</p><svg viewBox='0 0 100 100' "
      "width='50'><text "
      "font-size='12'>"
      "shrunk</text></svg><div style='width: 900px; height: 9px'></div><script>console.error('oh')</script>");
  const Visit seen = visit(page, kLayoutFaults, 400);
  CHECK(contains(seen.result, "pixels in a window of 400\n"));
  CHECK(contains(seen.result, "\"tiny\" has 6.0 pixels\n\"shrunk\" has 6.0 pixels\n"));
  CHECK_FALSE(contains(seen.result, "fine"));
  CHECK(contains(seen.console, "oh"));
  CHECK(visit(page, "note('done')", 1280).result == "done\n");
}
