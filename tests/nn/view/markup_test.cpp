#include "nn/view/markup.h"

#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("markup: texts made fit for XML, parts replaced, blanks filled once") {
  CHECK(detail::escaped("a<b> & \"c\" 我") == "a&lt;b&gt; &amp; &quot;c&quot; 我");
  CHECK(detail::replaced("aXbX", "X", "XX") == "aXXbXX");
  CHECK(detail::filled("{{a}}-{{b}}-{{a}}", {{"a", "{{b}}"}, {"b", "2"}}) == "{{b}}-2-{{b}}");
  CHECK(detail::filled("nothing to fill", {}) == "nothing to fill");
  CHECK(detail::joined("x=", 1.5, "\" n=", 3) == "x=1.5\" n=3");
}

TEST_CASE("markup: lines break at spaces, or anywhere where there are none; wide characters count twice") {
  CHECK(detail::wrapped("", 5).empty());
  CHECK(detail::wrapped("one two three", 8) == Texts{"one two", "three"});
  CHECK(detail::wrapped("one two", 7) == Texts{"one two"});
  CHECK(detail::wrapped("one two ", 7) == Texts{"one two", ""});
  CHECK(detail::wrapped("abcdefgh", 3) == Texts{"abc", "def", "gh"});
  CHECK(detail::wrapped("我爱中国", 4) == Texts{"我爱", "中国"});
}

TEST_CASE("markup: control characters are shown, other bytes refused") {
  CHECK(detail::visible("a name", "a\n\x1b\x7f我") == "a␊␛\uFFFD我");
  CHECK(message([] { detail::visible("a name", "\xff"); }).starts_with("a name"));
}
