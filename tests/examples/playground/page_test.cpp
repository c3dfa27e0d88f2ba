#include "examples/playground/page.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace program;

TEST_CASE("playground page: joins the files of a folder in order") {
  const Folder folder;
  folder.write("page.html", "<style>{{css}}</style>{{strings}}|{{defaults}}|{{wasm}}|{{js}}");
  folder.write("page.css", "p { color: var(--ink); }");
  folder.write("page.js", "show();");
  folder.write("wasm.js", "load();");
  folder.write("strings.en.json", R"({"title": "</script>"})");
  folder.write("strings.zh.json", R"({"title": "注意力"})");
  const std::string page = playground_page(folder.path.string(), "foo");
  CHECK(contains(page, "--paper:"));
  CHECK(contains(page, "p { color: var(--ink); }</style>"));
  CHECK(contains(
      page,
      R"({"en":{"title":"\u003c/script>"},"zh":{"title":"注意力"}}|{"regression":{"request":[1.0,0.0,)"));
  CHECK(contains(page, "|Zm9v|load();show();"));

  folder.write("more.js", "");
  CHECK_THROWS_WITH(playground_page(folder.path.string(), ""),
                    doctest::Contains("more.js: is in no order with the others"));
  std::filesystem::remove(folder / "more.js");
  folder.write("strings.zh.json", "{");
  CHECK_THROWS_WITH(playground_page(folder.path.string(), ""),
                    doctest::Contains("strings.zh.json: is not JSON"));
}
