#include "tests/support/browser.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

TEST_CASE("browser: layout faults and console errors are detected" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Folder folder;
  const std::string page =
      folder.write("page.html",
                   "<!DOCTYPE html><p>fine</p><p style='font-size: 6px'>tiny</p><svg viewBox='0 0 100 100' "
                   "width='50'><text "
                   "font-size='12' y='20'>"
                   "shrunk</text><text font-size='24' x='60' y='50'>cut off</text></svg>"
                   "<div style='width: 900px; height: 9px'></div><script>console.error('oh')</script>");
  const Visit seen = visit(page, kLayoutFaults, 400);
  CHECK(contains(seen.result, "pixels in a window of 400\n"));
  CHECK(contains(seen.result, "\"tiny\" has 6.0 pixels\n\"shrunk\" has 6.0 pixels\n"));
  CHECK(contains(seen.result, "\"cut off\" is cut by"));
  CHECK_FALSE(contains(seen.result, "fine"));
  CHECK(contains(seen.console, "oh"));
  CHECK(visit(page, "note('done')", 1280).result == "done\n");
}

TEST_CASE("browser: contrast is that of the text to what is behind it, in light and dark" *
          doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Folder folder;
  const std::string page = folder.write(
      "page.html",
      "<!DOCTYPE html><style>:root { color-scheme: light dark } body { background: Canvas "
      "}</style><p>fine</p>"
      "<p style='color: #888'>pale</p><div style='background: #000'><p style='color: #222'>hidden</p></div>"
      "<svg><rect width='99' height='99' fill='#fff'/><text y='20' fill='#eee'>white</text></svg>");
  const std::string light = visit(page, kContrastFaults).result;
  for (const char* text : {": \"pale\"", ": \"hidden\"", ": \"white\""}) CHECK(contains(light, text));
  CHECK_FALSE(contains(light, "fine"));
  const std::string dark = visit(page, kContrastFaults, 1280, Scheme::dark).result;
  CHECK_FALSE(contains(dark, "\"pale\""));
  CHECK(contains(dark, "\"white\""));
}

TEST_CASE("browser: the pixels of a page" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Folder folder;
  const std::string page = folder.write(
      "page.html", "<body style='margin: 0'><div style='width: 9px; height: 9px; background: #000'></div>");
  const Screenshot shot = screenshot(page, 40, 30);
  CHECK(shot.width == 40);
  CHECK(shot.at(8, 8) == 0);
  CHECK(shot.at(10, 8) == 255);
}
