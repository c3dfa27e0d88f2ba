#include "nn/view/page.h"

#include "tests/support/browser.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

const Tokens zh = {"我", "爱", "中国"}, odd = {"<bos>", "</script><b>&\"\\"};

// Two heads over one sentence, and two steps from one sentence to another.
static std::vector<AttentionMap> maps() {
  return {
      AttentionMap(
          tensor({{{{1, 0, 0}, {0.5, 0.25, 0.25}, {0, 0, 1}}, {{1, 0, 0}, {0.25, 0.5, 0.25}, {0, 1, 0}}}}),
          zh, zh, {.module = "encoder.self_attn"}),
      AttentionMap(tensor({{0.125, 0.75, 0.125}, {0, 0, 1}}), odd, zh, {.module = "decoder"}),
      AttentionMap(tensor({{1, 0, 0}, {std::nan(""), 0, 2}}), odd, zh, {.module = "decoder", .step = 1}),
  };
}

static Visit visit_page(const std::string& page, const std::string& script, int width = 1280) {
  const Folder folder;
  return visit(folder.write("page.html", page), script, width);
}

TEST_CASE("attention_page: one file without external references, tokens escaped") {
  const std::string page = attention_page(maps(), {.title = "a<b & \"c\"", .language = "zh"});
  CHECK(
      page.starts_with("<!DOCTYPE html>\n<html lang=\"zh\">\n<meta charset=\"utf-8\">\n"
                       "<title>a&lt;b &amp; &quot;c&quot;</title>"));
  CHECK(page.find("http:") == page.rfind("http:"));
  CHECK(contains(page, "http://www.w3.org/2000/svg"));
  CHECK(contains(page, "default-src 'none'"));
  for (const char* part : {"https:", "innerHTML", "</script><b>"}) CHECK_FALSE(contains(page, part));
  CHECK(contains(
      page,
      R"({"sentence":"","module":"decoder","name":"解码器","step":1,"queries":["\u003cbos>","\u003c/script>\u003cb>&\"\\"],)"
      R"("keys":["我","爱","中国"],"weights":[[10000,0,0,null,0,20000]]})"));
  CHECK(contains(attention_page({}), "id=\"data\">[]</script>"));
}

// covers: C-003-18
TEST_CASE("attention_page in a browser: tokens, lines, cells, numbers" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Visit seen = visit_page(attention_page(maps(), {.title = "A page"}), R"js(
    const all = selector => [...document.querySelectorAll(selector)];
    const sentence = () => all('#sentence span').map(
        s => s.textContent + (s.className && '*') + (s.style.getPropertyValue('--weight') || '')).join(' ');
    const shown = () => all('#lines g').filter(g => g.style.display === '').length;
    const over = selector => document.querySelector(selector).dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
    const press = (selector, key) => document.querySelector(selector).dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    const tip = () => document.getElementById('tip').textContent;
    const choose = (id, value) => { const s = document.getElementById(id); s.value = value; s.onchange({target: s}); };
    note(document.title + ' ' + document.documentElement.lang + ' ' + document.characterSet);
    note(all('#heat rect[data-key]').map(r => r.getAttribute('fill')).slice(0, 4));
    note(all('#heat .number').map(t => t.textContent));
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
        "rgb(8,48,107),rgb(247,251,255),rgb(247,251,255),rgb(142,193,224)\n"
        "1.00,0.00,0.00,0.38,0.38,0.25,0.00,0.50,0.50\n"
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
        "<bos> </script><b>&\"\\* 我0.000 爱0.000 中国1.000 decoder 1 0\n"
        "<bos>* </script><b>&\"\\ 我0.125 爱0.750 中国0.125\n"
        "requests 0\n");
}

TEST_CASE("attention_page in a browser: a network request would be detected" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Visit seen =
      visit_page(attention_page(maps()), "await fetch('http://example.org/').catch(() => note('refused'));");
  CHECK(contains(seen.console, "Content Security Policy"));
  CHECK(seen.result == "refused\n");
}

TEST_CASE("attention_page in a browser: menus, contrast, thumbnails, keys" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const auto soft = [](const char* sentence, const char* module, double part) {
    return AttentionMap(
        tensor({{{{part, 1 - part}, {1 - part, part}}, {{1 - part, part}, {part, 1 - part}}}}), {"你", "好"},
        {"你", "好"}, {.sentence = sentence, .module = module});
  };
  const std::string page = attention_page(
      {soft("s1", "one", 0.2), soft("s1", "two", 0.4), soft("s2", "one", 0.5), soft("s2", "two", 0.1)});
  const Visit seen = visit_page(page, R"js(
    const menu = id => { const s = document.getElementById(id); return s.parentElement.hidden ? '-' : [...s.options].map(o => o.text + (o.selected ? '*' : '')).join(' '); };
    const tell = () => note(['sentences', 'layer', 'step', 'head'].map(menu).join(' | ') + ' | ' +
        [...document.querySelectorAll('#heat .number')].map(t => t.textContent) + ' | ' + document.querySelectorAll('#overview button').length);
    const choose = (id, text) => { const s = document.getElementById(id); s.value = [...s.options].find(o => o.text === text).value; s.dispatchEvent(new Event('change')); };
    const fill = () => document.querySelector('#heat rect[data-key]').getAttribute('fill');
    tell();
    choose('layer', 'two');
    choose('head', '2');
    tell();
    choose('sentences', 's2');
    tell();
    note(fill() + ' of ' + document.getElementById('largest').textContent);
    document.getElementById('contrast').click();
    note(fill() + ' of ' + document.getElementById('largest').textContent);
    const pixel = document.querySelector('#overview button[aria-pressed=true] canvas').getContext('2d').getImageData(0, 0, 1, 1).data;
    document.getElementById('contrast').click();
    note(`rgb(${pixel.slice(0, 3)})` === fill());
    document.querySelector('#overview button').click();
    tell();
    document.querySelector('#heat svg').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
    note(document.getElementById('tip').textContent);
  )js");
  CHECK(seen.console == "");
  CHECK(seen.result ==
        "s1* s2 | one* two | - | mean of all* 1 2 | 0.50,0.50,0.50,0.50 | 4\n"
        "s1* s2 | one two* | - | mean of all 1 2* | 0.60,0.40,0.40,0.60 | 4\n"
        "s1 s2* | one two* | - | mean of all 1 2* | 0.90,0.10,0.10,0.90 | 4\n"
        "rgb(27,73,128) of 1\n"
        "rgb(8,48,107) of 0.90\n"
        "true\n"
        "s1 s2* | one* two | - | mean of all 1* 2 | 0.50,0.50,0.50,0.50 | 4\n"
        "你 → 好: 0.5000\n");
}

TEST_CASE("attention_page in a browser: masked keys, taps, special tokens, titles" *
          doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const Tokens tokens = {"<bos>", "a", "b"};
  const Tensor weights = tensor({{1, 0, 0}, {0.5, 0.5, 0}, {0, 1, 0}});
  const AttentionMap map(weights, tokens, tokens,
                         {.module = "decoder.layers.1.self_attn", .mask = Mask::causal(3)});
  const std::string script = R"js(
    const all = selector => [...document.querySelectorAll(selector)];
    note(document.title + ' | ' + document.querySelector('h1').textContent);
    note(all('#heat rect[fill="url(#masked)"]').length + ' ' + all('#heat .number').map(t => t.textContent));
    note(all('#lines line').map(line => line.getAttribute('class') ?? 'plain'));
    // A tap: the pointer comes, the focus changes, then it clicks.
    const tap = selector => {
      const target = document.querySelector(selector);
      target.dispatchEvent(new PointerEvent('pointerover', {bubbles: true, pointerType: 'touch'}));
      target.dispatchEvent(new FocusEvent('focusout', {bubbles: true}));
      target.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    };
    tap('#heat [data-query="1"][data-key="2"]');
    note(document.getElementById('tip').textContent + ' ' + document.querySelector('#sentence .now').textContent);
    tap('#lines [data-only="2"]');
    note(all('#lines g').filter(g => g.style.display === '').map(g => g.dataset.from));
    tap('h1');
    note(all('#lines g').filter(g => g.style.display === '').length + document.getElementById('tip').textContent);
  )js";
  const Visit english = visit_page(attention_page({map}), script);
  CHECK(english.console == "");
  CHECK(english.result ==
        "decoder, layer 2, self-attention | decoder, layer 2, self-attention\n"
        "3 1.00,0.50,0.50,0.00,1.00,0.00\n"
        "special,special,plain,plain\n"
        "a → b: masked a\n"
        "2\n"
        "3\n");
  const Visit chinese = visit_page(attention_page({map}, {.language = "zh"}), script + R"js(
    note(all('h2').map(h => h.textContent).join(' '));
    note([...document.body.innerText.matchAll(/[a-z]{3,}/gi)].join(' '));
  )js");
  CHECK(chinese.result ==
        "解码器，第 2 层，自注意力 | 解码器，第 2 层，自注意力\n"
        "3 1.00,0.50,0.50,0.00,1.00,0.00\n"
        "special,special,plain,plain\n"
        "a → b: 被掩码遮住 a\n"
        "2\n"
        "3\n"
        "当前词元及其关注的词元 热图：行是查询，列是键 从查询（左）到键（右）的连线 该句的所有层和头\n"
        "Tab bos bos bos bos bos\n");
}

TEST_CASE("attention_page in a browser: windows of three widths" * doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const auto tokens = [](int64_t n, const std::string& text) { return Tokens(static_cast<size_t>(n), text); };
  for (const int64_t n : {1, 3, 12, 30, 64, 200}) {
    const Tensor weights = full({1, 2, n, n}, 1.0 / static_cast<double>(n));
    const std::string page = attention_page(
        {AttentionMap(
             weights, tokens(n, "internationalisation"), tokens(n, "人工智能国际大会"),
             {.sentence = "人工智能国际大会 → a sentence that is as long as sentences are in newspapers",
              .module = "transformer.decoder.layers.11.multihead_attn"}),
         AttentionMap(weights, tokens(n, "我"), tokens(n, "a"), {.sentence = "another"})});
    for (const int width : {1280, 800, 400}) {
      CAPTURE(n);
      CAPTURE(width);
      CHECK(visit_page(page, kLayoutFaults, width).result == "");
    }
  }
}
