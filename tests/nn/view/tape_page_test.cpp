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
  CHECK(occurrences(svg, "<g class=\"node\"") == 5);
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
  CHECK(contains(page, R"({"node":1,"pass":1,"gradient":"1","rows":["1"],"parts":[{"node":0,"part":"[1, 1]",)"
                       R"("sum":"[1, 1]","rows":["[1, 1]"],"broadcast":false,"edge":0}]})"));
}

// y = a (2 a) with a = x x, as a page in a folder.
static std::string page_in(const Folder& folder, const TapePageOptions& options = {}) {
  Tape tape;
  const Tensor x = tensor(3).requires_grad_(), a = x * x, y = a * (a * 2);
  for (const auto& [name, value] : {std::pair("x", x), {"a", a}, {"y", y}}) tape.name(name, value);
  y.backward();
  return folder.write("page.html", tape_page(tape, options));
}

TEST_CASE("tape_page in a browser: the slider, buttons and keys" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Folder folder;
  const std::string page = page_in(folder);
  const Visit seen = visit(page, R"js(
    const shown = line => line.textContent && getComputedStyle(line).visibility !== 'hidden';
    const said = kind => [...document.querySelectorAll('.' + kind)].filter(shown).map(line => line.textContent).join(' ');
    const tell = () => note($('place').textContent + ' | ' + said('value') + ' | ' + said('gradient') + ' | ' +
                            document.querySelectorAll('.edge.now').length + ' | ' + $('text').textContent.split('\n')[0]);
    tell();
    $('on').click();
    tell();
    document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
    tell();
    $('step').value = 4;
    $('step').dispatchEvent(new Event('input'));
    tell();
    const tips = edge => [getComputedStyle(edge).markerStart, getComputedStyle(edge).markerEnd].map(url => url.split('"')[1]);
    note([...document.querySelectorAll('.edge')].map(tips).join(' '));
    $('back').click();
    tell();
    note([...document.querySelectorAll('.edge')].map(tips).join(' '));
    for (let i = 0; i < 9; ++i) $('on').click();
    tell();
    note($('text').textContent.replace(/tape_page_test.cpp:\d+/, 'here'));
    note('requests ' + performance.getEntriesByType('resource').length);
  )js");
  CHECK(seen.console == "");
  CHECK(seen.result ==
        "forward 1 / 7 | 3 |  | 0 | x = 3\n"
        "forward 2 / 7 | 3 9 |  | 2 | a = mul(x, x) = 9\n"
        "forward 3 / 7 | 3 9 18 |  | 2 | #4 = mul(a, 2) = 18\n"
        "backward 5 / 7 | 3 9 18 162 | ∂ 18 ∂ 9 ∂ 1 | 2 | y: g = 1\n"
        ",#tip ,#tip ,#tip ,#tip #tip-back, #tip-back,\n"
        "forward 4 / 7 | 3 9 18 162 |  | 2 | y = mul(a, #4) = 162\n"
        ",#tip ,#tip ,#tip ,#tip ,#tip-on ,#tip-on\n"
        "backward 7 / 7 | 3 9 18 162 | ∂ 216 ∂ 36 ∂ 9 ∂ 1 | 2 | a: g = 36\n"
        "a: g = 36\nmul: dx = g x, dx = g x\nx gets 108\nx gets 108, sum 216\nat here\n"
        "requests 0\n");
}

TEST_CASE("tape_page in a browser: playing stops at the end" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Folder folder;
  const Visit seen = visit(page_in(folder), R"js(
    const waits = [];
    window.setTimeout = call => waits.push(call);
    note($('play').textContent);
    $('play').click();
    note($('play').textContent);
    for (let i = 0; i < 6; ++i) waits.pop()();
    note($('place').textContent + ' ' + $('play').textContent + ' ' + waits.length);
    $('play').click();
    note($('place').textContent + ' ' + $('play').textContent);
    $('on').click();
    note($('place').textContent + ' ' + $('play').textContent);
  )js");
  CHECK(seen.result ==
        "Play\nPause\n"
        "backward 7 / 7 Play 0\n"
        "forward 1 / 7 Pause\n"
        "forward 2 / 7 Play\n");
}

TEST_CASE("tape_page in a browser: guessing the next gradient" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Folder folder;
  const Visit seen = visit(page_in(folder), R"js(
    const tell = () => note([$('place').textContent, $('question').hidden ? '-' : $('asked').textContent,
                             $('verdict').textContent, $('score').textContent].join(' | '));
    const answer = text => { $('answer').value = text; $('check').click(); tell(); };
    $('guess').click();
    for (let i = 0; i < 4; ++i) $('on').click();
    tell();
    answer('');
    answer('17');
    $('hint').click();
    tell();
    answer('18.1');
    note($('text').textContent.split('\n')[0]);
    $('on').click();
    answer('1 2');
    answer('18');
    $('on').click();
    $('reveal').click();
    tell();
  )js");
  CHECK(seen.console == "");
  CHECK(
      seen.result ==
      "forward 4 / 7 | Next, the rule of y = mul(a, #4) runs with g = 1. What does it send to a? |  | \n"
      "forward 4 / 7 | Next, the rule of y = mul(a, #4) runs with g = 1. What does it send to a? | Give one "
      "number. | \n"
      "forward 4 / 7 | Next, the rule of y = mul(a, #4) runs with g = 1. What does it send to a? | Not yet. "
      "Try "
      "again, take the hint, or show it. | right at once: 0 of 1\n"
      "forward 4 / 7 | Next, the rule of y = mul(a, #4) runs with g = 1. What does it send to a? | mul: da = "
      "g #4, "
      "d#4 = g a\ng = 1, a = 9, #4 = 18, y = 162 | right at once: 0 of 1\n"
      "backward 5 / 7 | - | mul: da = g #4, d#4 = g a\ng = 1, a = 9, #4 = 18, y = 162 | right at once: 0 of "
      "1\n"
      "Right. y: g = 1\n"
      "backward 5 / 7 | Next, the rule of #4 = mul(a, 2) runs with g = 9. What does it send to a? | Give one "
      "number. | right at once: 0 of 1\n"
      "backward 6 / 7 | - | Give one number. | right at once: 1 of 2\n"
      "backward 7 / 7 | - |  | right at once: 1 of 3\n");
}

// A script that notes texts of the graph with a contrast below 4.5 to the paper.
static const char* const kContrast = R"js(
  const part = value => value <= .03928 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
  const light = color => [.2126, .7152, .0722].reduce((sum, factor, i) => sum + factor * part(color.match(/[\d.]+/g)[i] / 255), 0);
  const paper = light(getComputedStyle(document.body).backgroundColor);
  for (const text of document.querySelectorAll('#graph text')) {
    const style = getComputedStyle(text), [low, high] = [light(style.fill), paper].sort((a, b) => a - b);
    let opacity = 1;
    for (let node = text; node; node = node.parentElement) opacity *= getComputedStyle(node).opacity;
    if (style.visibility !== 'hidden' && ((high + .05) / (low + .05) < 4.5 || opacity < 1)) note(`pale: ${text.textContent}`);
  }
)js";

TEST_CASE("tape_page in a browser: legible from the first step on, at three widths, and in Chinese" *
          doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Folder folder;
  for (const char* language : {"en", "zh"}) {
    const std::string page = page_in(folder, {.language = language});
    for (const int width : {1280, 800, 400}) {
      CAPTURE(language);
      CAPTURE(width);
      const std::string script =
          std::string(kLayoutFaults) + kContrast +
          "for (const button of document.querySelectorAll('button')) if (button.offsetParent && "
          "!button.textContent) note(button.id);";
      CHECK(visit(page, script, width).result == "");
    }
  }
  const std::string chinese = page_in(folder, {.language = "zh"});
  const Visit seen = visit(chinese, R"js(
    note(document.title + ' ' + $('play').textContent + ' ' + $('place').textContent);
    for (let i = 0; i < 6; ++i) $('on').click();
    note($('text').textContent.split('\n').slice(0, 4).join(' / '));
    note([...document.body.innerText.matchAll(/\b(Back|Next|Play|Step|gets|sum|at|forward|backward|Guess)\b/g)]);
  )js");
  CHECK(seen.result ==
        "逐步计算 播放 前向 1 / 7\na: g = 36 / mul: dx = g x, dx = g x / x 得到 108 / x 得到 108，累计 "
        "216\n\n");
}
