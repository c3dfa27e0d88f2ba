#include "examples/guide/pages.h"

#include <cstdlib>

#include "tensor/utf8.h"
#include "tests/support/browser.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace program;
namespace fs = std::filesystem;

namespace {

std::vector<Page> two_pages() {
  return {Page("index",
               "<h1 id=\"top\">0. Attention</h1>\n<p>See <a href=\"#C-000-05\">the mean</a>.</p>\n"
               "<h2 id=\"s-2\">Words</h2>\n<figure>\n<img src=\"a.svg\" alt=\"A\" /><figcaption "
               "aria-hidden=\"true\">A &amp; <em>b</em></figcaption>\n</figure>"),
          Page("1_means",
               "<h1 id=\"top\">1. Means</h1>\n<h2 id=\"C-000-05\">The mean <span "
               "class=\"concept\">C-000-05</span></h2>\n<a href=\"#C-000-05\">here</a>"
               "<pre><a href=\"#cb1-1\" tabindex=\"-1\"></a>我 a</pre>")};
}

const PageParts kParts = {
    "{{language}}|{{relations}}|{{title}}|{{style}}|{{home}}|{{guide}}|{{other}}|{{other-language}}|{{other-"
    "name}}|"
    "{{chapters}}|{{menu}}|{{body}}|{{turn}}|{{script}}|{{benches}}",
    "css", "js", "benches.js"};

}  // namespace

TEST_CASE("pages: sections, without their ids in the title") {
  const std::vector<Page> pages = two_pages();
  REQUIRE(pages[1].sections.size() == 2);
  CHECK(pages[1].sections[0].id == "top");
  CHECK(pages[1].sections[1].id == "C-000-05");
  CHECK(pages[1].sections[1].title == "The mean");
  CHECK(pages[1].file(kChinese) == "1_means.zh.html");
  CHECK(contains(pages[1].body, "<pre><span class=\"wide\">我</span> a</pre>"));
  CHECK_ERROR_HAS(Page("index", "<p>text</p>"), "a chapter begins with its title");
}

TEST_CASE("pages: pandoc makes HTML of Markdown, and leaves no files, also if it fails") {
  const Folder folder, tools;
  fs::create_directory(folder / "out");
  const std::string path = std::getenv("PATH");
  const auto with_pandoc = [&](const std::string& script) {
    fs::permissions(tools.write("pandoc", "#!/bin/sh\n" + script), fs::perms::owner_all);
    setenv("PATH", (tools.path.string() + ":" + path).c_str(), 1);
    const std::string text = message([&] { CHECK(html_of("# A\n", folder / "out") == "<h1>A</h1>\n"); });
    setenv("PATH", path.c_str(), 1);
    CHECK(fs::is_empty(folder / "out"));
    return text;
  };
  CHECK(with_pandoc("grep -q '^# A$' page.md && echo '<h1>A</h1>' >page.tmp\n") == "");
  CHECK(contains(with_pandoc("echo half >page.tmp; echo 'unknown option' >&2; exit 6\n"), "unknown option"));
}

TEST_CASE("pages: links lead to the page that has the section") {
  std::vector<Page> pages = two_pages();
  connect(pages, kChinese);
  CHECK(contains(pages[0].body, "<a href=\"1_means.zh.html#C-000-05\">"));
  CHECK(contains(pages[1].body, "<a href=\"#C-000-05\">here"));
  pages.pop_back();
  pages[0].body = "<a href=\"#C-000-05\">";
  CHECK_ERROR_HAS(connect(pages, kEnglish), "en/index links to #C-000-05, which no chapter has");
  pages = two_pages();
  pages[0].body = "<a href=\"1_means.md\"><a href=\"https://a.b/c.md\">";
  connect(pages, kChinese);
  CHECK(pages[0].body == "<a href=\"1_means.zh.html\"><a href=\"https://a.b/c.md\">");
  pages[0].body = "<a href=\"2_none.md\">";
  CHECK_ERROR_HAS(connect(pages, kEnglish), "en: there is no chapter 2_none.md to link to");
  pages = two_pages();
  pages.push_back(pages[1]);
  CHECK_ERROR_HAS(connect(pages, kEnglish), "two sections are C-000-05");
}

TEST_CASE("pages: pictures are elements, and other pages frames") {
  const auto svg = [](const std::string& path) { return "<svg width=\"9\" id=\"" + path + "\"></svg>"; };
  const std::string body = with_pictures(two_pages()[0].body, kEnglish, svg);
  CHECK(contains(body, "<div class=\"scroll\"><svg "));
  CHECK(contains(body, "aria-label=\"A &amp; b\""));
  CHECK(contains(body, "<figcaption>A &amp; <em>b</em></figcaption>"));
  CHECK(contains(body, "id=\"p1-a.svg\""));
  const std::string frame =
      with_pictures("<figure>\n<embed src=\"b.html\" /><figcaption>c</figcaption>\n</figure>", kChinese, svg);
  CHECK(contains(frame, "<iframe src=\"b.html\" title=\"c\""));
  CHECK(contains(frame, "<a href=\"b.html\">单独打开</a>"));
}

TEST_CASE("pages: the menu opens the present chapter; the others are a link away") {
  std::vector<Page> pages = two_pages();
  connect(pages, kEnglish);
  const std::string first = complete(pages, 0, kEnglish, kParts),
                    second = complete(pages, 1, kEnglish, kParts);
  for (const char* part :
       {"<details open><summary><a href=\"#top\" aria-current=\"page\">0. Attention</a>",
        "<a href=\"#s-2\">Words</a>", "<details><summary><a href=\"1_means.html\">1. Means</a>",
        "<a href=\"1_means.html#C-000-05\">The mean</a>",
        "<a rel=\"next\" href=\"1_means.html\"><small>Next</small>1. Means</a>", "|index.zh.html|zh-CN|中文|",
        "|0. Attention · Attention, seen and read|"})
    CHECK(contains(first, part));
  CHECK(!contains(first, "rel=\"prev\""));
  for (const char* part : {"<a href=\"index.html#s-2\">Words</a>", "<a href=\"#C-000-05\">The mean</a>",
                           "rel=\"prev\" href=\"index.html\"", "|1_means.zh.html|"})
    CHECK(contains(second, part));
  CHECK(!contains(second, "rel=\"next\""));
}

TEST_CASE("pages: those with benches have the script of benches") {
  std::vector<Page> pages = two_pages();
  pages[1].body += "<heed-bench name=\"regression\"></heed-bench>";
  CHECK(complete(pages, 0, kEnglish, kParts).ends_with("|js|"));
  CHECK(complete(pages, 1, kEnglish, kParts).ends_with("|js|<script src=\"benches.js\"></script>\n"));
  PageParts without = kParts;
  without.benches = "";
  CHECK(complete(pages, 1, kEnglish, without).ends_with("|js|"));
}

TEST_CASE(
    "pages: in Chromium the menu and the other language follow the section in view, and old links lead on" *
    doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Folder folder;
  const auto part = [](const char* file) {
    return read_file(std::string(HEED_SOURCE_DIR) + "/examples/guide/" + file);
  };
  std::vector<Page> pages = two_pages();
  connect(pages, kEnglish);
  pages[1].body = heed::replaced(pages[1].body, "</h1>", "</h1><p style='height: 2000px'>long</p>") +
                  "<p style='height: 2000px'>long</p>";
  for (size_t i = 0; i < pages.size(); ++i)
    folder.write(pages[i].file(kEnglish),
                 complete(pages, i, kEnglish, {part("page.html"), "", part("page.js"), ""}));

  CHECK(visit(folder / "1_means.html", R"js(
    const section = () => document.querySelector('.menu [aria-current=location]')?.textContent ?? 'none';
    const say = () => note(section() + ': ' + document.getElementById('other').href.split('/').pop());
    say();
    document.documentElement.style.scrollBehavior = 'auto';
    location.hash = 'C-000-05';
    while (section() == 'none') await new Promise(done => setTimeout(done, 50));
    say();)js")
            .result == "none: 1_means.zh.html\nThe mean: 1_means.zh.html#C-000-05\n");

  Tab& tab = shared_tab();
  tab.open("file://" + (folder / "index.html") + "#C-000-05");
  CHECK(tab.address_after("1_means.html") == "file://" + (folder / "1_means.html") + "#C-000-05");
}
