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
