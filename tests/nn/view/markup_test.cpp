#include "nn/view/markup.h"

#include "tests/support/expect.h"

TEST_CASE("markup: texts escaped for XML, patterns and pages filled once") {
  CHECK(detail::escaped("a<b> & \"c\" 我") == "a&lt;b&gt; &amp; &quot;c&quot; 我");
  CHECK(detail::with_parts("x=\"{}\" n={}", 1.5, "{}") == "x=\"1.5\" n={}");
  CHECK(detail::line("{}", 2) == "2\n");
  CHECK(detail::filled("{{a}}-{{b}}-{{a}}", {{"a", "{{b}}"}, {"b", "2"}}) == "{{b}}-2-{{b}}");
  CHECK(detail::filled("nothing to fill", {}) == "nothing to fill");
}

TEST_CASE("markup: lines break at spaces if there are some; wide characters take two columns") {
  CHECK(detail::wrapped("", 5).empty());
  CHECK(detail::wrapped("one two three", 8) == Texts{"one two", "three"});
  CHECK(detail::wrapped("one two", 7) == Texts{"one two"});
  CHECK(detail::wrapped("one two ", 7) == Texts{"one two", ""});
  CHECK(detail::wrapped("abcdefgh", 3) == Texts{"abc", "def", "gh"});
  CHECK(detail::wrapped(" abcd", 3) == Texts{" ab", "cd"});
  CHECK(detail::wrapped("我爱中国", 4) == Texts{"我爱", "中国"});
}

TEST_CASE("markup: a picture has the colors of its page, or its own in light and dark") {
  const std::string svg = detail::svg_begin(20, 10, "font-size=\"12\"");
  CHECK(
      svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"heed\" width=\"20\" height=\"10\" "
                      "viewBox=\"0 0 20 10\" fill=\"#222\" font-size=\"12\">\n<style>"));
  CHECK(svg.ends_with("<rect class=\"paper\" width=\"20\" height=\"10\" fill=\"#fff\"/>\n"));
  CHECK(contains(svg, "var(--paper, #fff)"));
  CHECK(detail::is_chinese("zh-Hans"));
  CHECK_FALSE(detail::is_chinese("en"));
}
