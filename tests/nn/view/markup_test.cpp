#include "nn/view/markup.h"

#include "tests/support/expect.h"

TEST_CASE("markup: texts escaped for XML, patterns and pages filled once") {
  CHECK(detail::escaped("a<b> & \"c\" 我") == "a&lt;b&gt; &amp; &quot;c&quot; 我");
  CHECK(detail::line("x=\"{}\" n={}", 1.5, "{}") == "x=\"1.5\" n={}\n");
  CHECK(detail::filled("{{a}}-{{b}}-{{a}}", {{"a", "{{b}}"}, {"b", "2"}}) == "{{b}}-2-{{b}}");
  CHECK(detail::filled("nothing to fill", {}) == "nothing to fill");
}

TEST_CASE("markup: lines break at spaces if there are some; wide characters take two columns") {
  CHECK(detail::wrapped("", 5).empty());
  CHECK(detail::wrapped("one two three", 8) == Texts{"one two", "three"});
  CHECK(detail::wrapped("one two", 7) == Texts{"one two"});
  CHECK(detail::wrapped("one two ", 7) == Texts{"one two", ""});
  CHECK(detail::wrapped("abcdefgh", 3) == Texts{"abc", "def", "gh"});
  CHECK(detail::wrapped("我爱中国", 4) == Texts{"我爱", "中国"});
}
