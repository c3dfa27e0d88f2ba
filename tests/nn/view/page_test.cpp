#include "nn/view/page.h"

#include <cstdlib>

#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace heed;

namespace {

const Tokens zh = {"我", "爱", "中国"}, odd = {"<bos>", "</script><b>&\"\\"};

// Two heads over one sentence, and two steps from one sentence to another.
std::vector<AttentionMap> maps() {
  return {
      AttentionMap(
          tensor({{{{1, 0, 0}, {0.5, 0.25, 0.25}, {0, 0, 1}}, {{1, 0, 0}, {0.25, 0.5, 0.25}, {0, 1, 0}}}}),
          zh, zh, {.module = "encoder.self_attn"}),
      AttentionMap(tensor({{0.125, 0.75, 0.125}, {0, 0, 1}}), odd, zh, {.module = "decoder"}),
      AttentionMap(tensor({{1, 0, 0}, {std::nan(""), 0, 2}}), odd, zh, {.module = "decoder", .step = 1}),
  };
}

bool has_chromium() { return std::system("command -v chromium > /dev/null 2>&1") == 0; }

struct Visit {
  std::string dom, console, result;
};

// Opens a page without a network; then `script` runs in it, and what it gives to note() is the result.
Visit visit(const std::string& page, const std::string& script) {
  const Folder folder;
  const std::string path =
      folder.write("page.html", page +
                                    "<pre id=result></pre><script>{const note = x => "
                                    "document.getElementById('result').append(x + '\\n');\n" +
                                    script + "}</script>");
  const std::string command =
      "timeout 100 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir=" +
      (folder / "profile") +
      " --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --v=0 "
      "--virtual-time-budget=3000 --dump-dom file://" +
      path + " > " + (folder / "dom") + " 2> " + (folder / "log");
  REQUIRE(std::system(command.c_str()) == 0);
  Visit seen{read_file(folder / "dom"), "", ""};
  const std::string log = read_file(folder / "log");
  for (size_t at = log.find("CONSOLE"); at != std::string::npos; at = log.find("CONSOLE", at + 1))
    seen.console += log.substr(at, log.find('\n', at) + 1 - at);
  const size_t begin = seen.dom.find("<pre id=\"result\">") + 17;
  seen.result = seen.dom.substr(begin, seen.dom.find("</pre>", begin) - begin);
  return seen;
}

}  // namespace

TEST_CASE("attention_page: one file that names nothing outside, data once, tokens harmless") {
  const std::string page = attention_page(maps(), {.title = "a<b & \"c\"", .language = "zh"});
  CHECK(
      page.starts_with("<!DOCTYPE html>\n<html lang=\"zh\">\n<meta charset=\"utf-8\">\n"
                       "<title>a&lt;b &amp; &quot;c&quot;</title>"));
  CHECK(page.find("http:") == page.rfind("http:"));
  CHECK(page.find("http://www.w3.org/2000/svg") != std::string::npos);
  CHECK(page.find("default-src 'none'") != std::string::npos);
  for (const char* part : {"https:", "innerHTML", "</script><b>"}) CHECK_FALSE(contains(page, part));
  CHECK(contains(page,
                 R"({"module":"decoder","step":1,"queries":["\u003cbos>","\u003c/script>\u003cb>&\"\\"],)"
                 R"("keys":["我","爱","中国"],"weights":[[10000,0,0,null,0,20000]]})"));
  CHECK(attention_page({}).find("id=\"data\">[]</script>") != std::string::npos);
}

// covers: C-003-18
TEST_CASE("attention_page in a browser: the current token red, the others shaded, lines, cells, numbers" *
          doctest::test_suite("slow")) {
  if (!has_chromium()) {
    MESSAGE("skipped: chromium is not installed (.ci/setup.sh ci)");
    return;
  }
  const Visit seen = visit(attention_page(maps(), {.title = "A page"}), R"js(
    const all = selector => [...document.querySelectorAll(selector)];
    const sentence = () => all('#sentence span').map(
        s => s.textContent + (s.className && '*') + (s.style.getPropertyValue('--weight') || '')).join(' ');
    const shown = () => all('#lines g').filter(g => g.style.display === '').length;
    const over = selector => document.querySelector(selector).dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
    const press = (selector, key) => document.querySelector(selector).dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    const tip = () => document.getElementById('tip').textContent;
    const choose = (id, value) => { const s = document.getElementById(id); s.value = value; s.onchange({target: s}); };
    note(document.title + ' ' + document.documentElement.lang + ' ' + document.characterSet);
    note(all('#heat rect[data-key]').map(r => r.getAttribute('fill-opacity')));
    note(sentence());
    note(getComputedStyle(document.querySelector('#sentence .now')).backgroundColor);
    note('lines ' + all('#lines line').length + ' of ' + shown());
    over('#lines [data-only="1"]');
    note(sentence() + ', lines of ' + shown());
    over('h1');
    note('lines of ' + shown());
    over('#heat [data-query="2"][data-key="1"]');
    note(tip());
    over('h1');
    note('tip ' + tip());
    press('#heat svg', 'ArrowDown');
    note(tip());
    press('#sentence', 'ArrowRight');
    note(tip() + ' ' + sentence());
    choose('head', 1);
    note(sentence());
    document.querySelector('button[data-map="2"]').click();
    note(sentence() + ' ' + document.getElementById('layer').selectedOptions[0].text + ' ' +
         document.getElementById('step').selectedOptions[0].text + ' ' + all('#sentence b').length);
    choose('step', 1);
    document.querySelector('#sentence [data-pick="0"]').click();
    note(sentence());
    note('requests ' + performance.getEntriesByType('resource').length);
  )js");
  CHECK(seen.console == "");
  CHECK(seen.result ==
        "A page en UTF-8\n"
        "1.000,0.000,0.000,0.375,0.375,0.250,0.000,0.500,0.500\n"
        "我*1.000 爱0.000 中国0.000\n"
        "rgb(200, 16, 46)\n"
        "lines 6 of 3\n"
        "我0.375 爱*0.375 中国0.250, lines of 1\n"
        "lines of 3\n"
        "中国 → 爱: 0.5000\n"
        "tip \n"
        "中国 → 我: 0.0000\n"
        "中国 → 爱: 0.5000 我0.000 爱0.500 中国*0.500\n"
        "我0.000 爱1.000 中国*0.000\n"
        "&lt;bos&gt; &lt;/script&gt;&lt;b&gt;&amp;\"\\* 我0.000 爱0.000 中国1.000 decoder 1 0\n"
        "&lt;bos&gt;* &lt;/script&gt;&lt;b&gt;&amp;\"\\ 我0.125 爱0.750 中国0.125\n"
        "requests 0\n");
}

TEST_CASE("attention_page in a browser: a request to the network would not go unseen" *
          doctest::test_suite("slow")) {
  if (!has_chromium()) return;
  const Visit seen =
      visit(attention_page(maps()), "fetch('http://example.org/').catch(() => note('refused'));");
  CHECK(seen.console.find("Content Security Policy") != std::string::npos);
  CHECK(seen.result == "refused\n");
}
