#include "examples/playground/page.h"

#include <regex>

#include "examples/guide/chapter.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace program;

TEST_CASE("playground page: joins the files of a folder in order") {
  const Folder folder;
  folder.write("page.html", "<style>{{css}}</style><script>{{js}}</script>");
  folder.write("page.css", "p { color: var(--ink); }");
  folder.write("bench.css", "& { color: red; }\n");
  folder.write("page.js", "show();");
  folder.write("wasm.js", "load();");
  folder.write("strings.en.json", R"({"title": "</script>"})");
  folder.write("strings.zh.json", R"({"title": "注意力"})");
  const std::string page = playground_page(folder.path.string(), "foo");
  CHECK(contains(page, "--paper:"));
  CHECK(contains(page, "p { color: var(--ink); }heed-bench.live {\n& { color: red; }\n}\n</style>"));
  CHECK(contains(page, "<script>'use strict';\nconst given = {\nstrings: {"));
  CHECK(contains(page, R"({"en":{"title":"\u003c/script>"},"zh":{"title":"注意力"}},)"));
  CHECK(contains(page, "\ndefaults: {\"regression\":{\"request\":[1.0,0.0,"));
  CHECK(contains(page, "\nrecord: {},\nwasm: \"Zm9v\"\n};\nload();show();</script>"));
  CHECK(benches_script(folder.path.string(), "foo", "{}").ends_with("};\nload();"));

  folder.write("more.js", "");
  CHECK_THROWS_WITH(playground_page(folder.path.string(), ""),
                    doctest::Contains("more.js: is in no order with the others"));
  std::filesystem::remove(folder / "more.js");
  folder.write("strings.zh.json", "{");
  CHECK_THROWS_WITH(playground_page(folder.path.string(), ""),
                    doctest::Contains("strings.zh.json: is not JSON"));
}

TEST_CASE("playground page: the concepts to which benches lead are in those chapters of the guide") {
  const std::filesystem::path examples = HEED_SOURCE_DIR "/examples";
  const std::map<std::string, std::string> chapters = chapters_in(examples / "guide/en");
  const std::regex link("'(\\d_[a-z_]+)#(C-[0-9-]+)'");
  int64_t links = 0;
  for (const auto& file : std::filesystem::directory_iterator(examples / "playground/page")) {
    if (file.path().extension() != ".js") continue;
    const std::string script = read_file(file.path().string());
    for (std::sregex_iterator found(script.begin(), script.end(), link), end; found != end;
         ++found, ++links) {
      INFO(file.path(), ": ", found->str());
      REQUIRE(chapters.contains((*found)[1]));
      CHECK(contains(chapters.at((*found)[1]), "\n## " + found->str(2) + " "));
    }
  }
  CHECK(links >= 16);
}
