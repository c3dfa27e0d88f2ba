#include <regex>

#include "examples/guide/chapter.h"
#include "tests/support/expect.h"
#include "tests/support/playground.h"

namespace fs = std::filesystem;

namespace {

// A fault for each picture, frame and link of a page that leads nowhere, and each request over a network.
const char* const kLinkFaults = R"js(
  for (const image of document.images) if (!image.naturalWidth) note(image.src + ' is not there');
  for (const {name} of performance.getEntriesByType('resource'))
    if (!name.startsWith('file:')) note('a request: ' + name);
  for (const link of document.querySelectorAll('a[href^="#"]'))
    if (!document.getElementById(decodeURIComponent(link.hash.slice(1)))) note(link.hash + ' leads nowhere');
  const ids = new Set();
  for (const {id} of document.querySelectorAll('[id]')) ids.has(id) ? note('two elements are ' + id) : ids.add(id);
)js";

// The pages of the guide in a folder, by name.
std::map<std::string, std::string> pages_in(const fs::path& folder) {
  std::map<std::string, std::string> pages;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".html")
      pages[entry.path().filename().string()] = read_file(entry.path().string());
  return pages;
}

// Checks that links to other pages lead to a section that is there.
void check_links(const std::map<std::string, std::string>& pages) {
  static const std::regex link(R"re( href="([^"#:]+\.html)(?:#([^"]+))?")re");
  for (const auto& [name, page] : pages)
    for (auto found = std::sregex_iterator(page.begin(), page.end(), link); found != std::sregex_iterator();
         ++found) {
      INFO(name, " links to ", found->str());
      if (found->str(1).starts_with("runs/")) continue;  // a page of a program
      REQUIRE(pages.contains(found->str(1)));
      if ((*found)[2].matched) CHECK(contains(pages.at(found->str(1)), "id=\"" + found->str(2) + "\""));
    }
}

}  // namespace

TEST_CASE("guide: all programs run, and each page is complete" * doctest::test_suite("slow")) {
  const Folder folder;
  const Run run = run_shell("cd '" + folder.path.string() + "' && '" HEED_BINARY_DIR "/examples/guide'");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  CHECK(!contains(run.out, "apt-get install"));
  std::map<std::string, std::string> pages = pages_in(folder / "out/guide");
  std::erase_if(pages,
                [](const auto& page) { return page.first == "playground.html"; });  // it has tests of its own
  CHECK(pages.size() == 2 * program::chapters_in(HEED_SOURCE_DIR "/examples/guide/en").size());
  REQUIRE(pages.contains("index.html"));
  REQUIRE(pages.contains("index.zh.html"));
  for (const auto& [name, page] : pages) {
    INFO(name);
    for (const char* gap : {"{.run", "{.code", "{.bench", "<code>=", "src=\"http", "$$", "{{menu"})
      CHECK(!contains(page, gap));
    CHECK(contains(page, "font-family: \"Guide Math\"; src: url(data:"));
  }
  check_links(pages);
  const bool runs = fs::exists(HEED_BINARY_DIR "/examples/playground.wasm.gz");
  CHECK(fs::exists(folder / "out/guide/benches.js") == runs);
  CHECK(fs::exists(folder / "out/guide/playground.html") == runs);

  if (!has_browser()) return;
  const std::string script =
      std::string("{") + kLayoutFaults + "}{" + kContrastFaults + "}{" + kLinkFaults + "}";
  Tab& tab = shared_tab();
  for (const auto& [name, page] : pages) {
    tab.open("file://" + (folder / "out/guide/" + name));
    if (runs) tab.wait_until(kBenchesAreDrawn);
    for (const int width : {1280, 800, 400})
      for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
        INFO(name, ", ", width, " pixels wide, ", scheme == Scheme::light ? "light" : "dark");
        tab.look(width, scheme);
        CHECK(tab.notes(script) == "");
      }
    CHECK(tab.console() == "");
  }
}
