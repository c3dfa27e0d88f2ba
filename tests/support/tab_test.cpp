#include "tests/support/tab.h"

#include "tests/support/browser.h"
#include "tests/support/expect.h"

TEST_CASE("tab: events of mouse, touch and keyboard are real ones" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Folder folder;
  const std::string page = folder.write("page.html", R"html(<!DOCTYPE html>
      <body style="margin: 0; height: 3000px"><button style="width: 100px; height: 50px">Press</button><input>
      <script>
        const seen = [];
        for (const type of ['pointerdown', 'pointermove', 'pointerup', 'click', 'keydown', 'input'])
          addEventListener(type, event =>
              seen.push([type, event.isTrusted && (event.pointerType || event.key || event.target.value)].join(' ')));
        console.error('oh');
      </script>)html");
  Tab tab;
  tab.resize(400, 600);
  tab.open("file://" + page);
  CHECK(tab.evaluate("innerWidth") == 400);
  CHECK(tab.console() == "\"oh\" \n");
  const auto seen = [&] { return tab.evaluate("seen.splice(0)"); };

  tab.mouse("mousePressed", 50, 20);
  tab.mouse("mouseReleased", 50, 20);
  CHECK(seen() == Json::array({"pointerdown mouse", "pointerup mouse", "click mouse"}));
  tab.key("Escape");
  CHECK(seen() == Json::array({"keydown Escape"}));
  tab.evaluate("document.querySelector('input').focus()");
  tab.type("中文");
  CHECK(seen() == Json::array({"input 中文"}));
  tab.touch("touchStart", 50, 20);
  tab.touch("touchEnd", 50, 20);
  tab.evaluate("new Promise(done => setTimeout(done, 500))");
  CHECK(seen() == Json::array({"pointerdown touch", "pointerup touch", "click touch"}));
  CHECK(tab.evaluate("scrollY") == 0);
  tab.touch("touchStart", 200, 400);
  for (int y = 400; y > 200; y -= 20) tab.touch("touchMove", 200, y);
  tab.touch("touchEnd", 200, 200);
  CHECK(tab.evaluate("new Promise(done => setTimeout(() => done(scrollY), 500))") > 100);
  CHECK(tab.evaluate("Promise.resolve({a: [1]})") == Json::parse("{\"a\": [1]}"));
  CHECK(tab.heap_bytes() > 1e5);
}
