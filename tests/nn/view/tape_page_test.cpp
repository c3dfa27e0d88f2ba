#include "nn/view/tape_page.h"

#include "tests/support/browser.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

TEST_CASE("tape_svg: a box for each tensor with value, gradient and rule, an edge for each operand") {
  Tape tape;
  const Tensor a = tensor({1, 2}, float64).requires_grad_();
  tape.name("a<b", a);
  sum(a * 3 + a).backward();
  const std::string svg = tape_svg(tape);
  CHECK(occurrences(svg, "<g class=\"node") == 5);
  CHECK(occurrences(svg, "<path class=\"edge\"") == 5);
  CHECK(contains(svg, ">a&lt;b</text>"));
  CHECK(contains(svg, "#3 = mul</text>"));
  CHECK(contains(svg, "da&lt;b = g 3"));
  CHECK(contains(svg, "∂ [4, 4]</text>"));
  CHECK_FALSE(contains(svg, "nan"));
  CHECK(tape_svg(Tape()).starts_with("<svg "));
}

TEST_CASE("tape_page: one file without external references, names escaped") {
  Tape tape;
  const Tensor a = tensor({1, 2}).requires_grad_();
  tape.name("</script><b>", a);
  sum(a).backward();
  const std::string page = tape_page(tape, {.title = "a<b", .language = "zh"});
  CHECK(page.starts_with(
      "<!DOCTYPE html>\n<html lang=\"zh\">\n<meta charset=\"utf-8\">\n<title>a&lt;b</title>"));
  CHECK(page.find("http:") == page.rfind("http:"));  // the namespace of SVG
  for (const char* part : {"https:", "innerHTML", "</script><b>", "{{"}) CHECK_FALSE(contains(page, part));
  CHECK(contains(page, R"("gradients":[{"node":1,"rows":["1"]},{"node":0,"rows":["[1, 1]"],"edge":0}])"));
}

TEST_CASE("tape_page in a browser: the slider, buttons and keys" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  Tape tape;
  const Tensor x = tensor(3).requires_grad_(), a = x * x, y = a * (a * 2);
  for (const auto& [name, value] : {std::pair("x", x), {"a", a}, {"y", y}}) tape.name(name, value);
  y.backward();
  const Folder folder;
  const std::string page = folder.write("page.html", tape_page(tape));
  const Visit seen = visit(page, R"js(
    const shown = line => line.textContent && line.style.visibility !== 'hidden';
    const said = kind => [...document.querySelectorAll('.' + kind)].filter(shown).map(line => line.textContent).join(' ');
    const tell = () => note($('place').textContent + ' | ' + said('value') + ' | ' + said('gradient') + ' | ' +
                            document.querySelectorAll('.edge.now').length + ' | ' + $('text').textContent.split('\n')[0].split('    ')[0]);
    tell();
    $('on').click();
    tell();
    document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
    tell();
    $('step').value = 4;
    $('step').dispatchEvent(new Event('input'));
    tell();
    $('back').click();
    tell();
    for (let i = 0; i < 9; ++i) $('on').click();
    tell();
    note('requests ' + performance.getEntriesByType('resource').length);
  )js");
  CHECK(seen.console == "");
  CHECK(seen.result ==
        "forward 1 / 7 | 3 |  | 0 | x = 3\n"
        "forward 2 / 7 | 3 9 |  | 2 | a = mul(x, x) = 9\n"
        "forward 3 / 7 | 3 9 18 |  | 2 | #4 = mul(a, 2) = 18\n"
        "backward 5 / 7 | 3 9 18 162 | ∂ 18 ∂ 9 ∂ 1 | 2 | y: g = 1\n"
        "forward 4 / 7 | 3 9 18 162 |  | 2 | y = mul(a, #4) = 162\n"
        "backward 7 / 7 | 3 9 18 162 | ∂ 216 ∂ 36 ∂ 9 ∂ 1 | 2 | a: g = 36\n"
        "requests 0\n");
  for (const int width : {1280, 800, 400}) {
    CAPTURE(width);
    CHECK(visit(page, kLayoutFaults, width).result == "");
  }
}
