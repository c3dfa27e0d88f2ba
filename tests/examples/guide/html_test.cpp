#include "examples/guide/html.h"

#include "tests/support/expect.h"

using namespace program;

TEST_CASE("html: parts are replaced from one mark to the next") {
  const auto shout = [](const std::string& part) { return "<" + part + ">"; };
  CHECK(with_parts("a [b] c [d] e [f", "[", "]", shout) == "a <[b]> c <[d]> e [f");
  CHECK(with_parts("", "[", "]", shout) == "");
}

TEST_CASE("html: texts are replaced between tags only") {
  const auto bracketed = [](const std::string& text) { return "(" + text + ")"; };
  CHECK(with_texts("a<b c=\"d\">e</b><!-- f > g --><style>h</style><script>if (i < j) k</script>l",
                   bracketed) ==
        "(a)<b c=\"d\">(e)</b><!-- f > g --><style>h</style><script>if (i < j) k</script>(l)");
  CHECK(with_texts("a<b", bracketed) == "(a)<b");
}

TEST_CASE("html: attributes are read and replaced, in both kinds of quotes") {
  const std::string markup = "<a x:href='#one' stroke-width = \"2\" b>c=\"d\"</a>";
  const auto named = [](const std::string& name, const std::string& value) { return name + "/" + value; };
  CHECK(with_attributes(markup, named) ==
        "<a x:href='x:href/#one' stroke-width = \"stroke-width/2\" b>c=\"d\"</a>");
  CHECK(attribute_of(markup, "stroke-width") == "2");
  CHECK(attribute_of(markup, "width") == "");
  CHECK(attribute_of("<a b=\"1\"><a b=\"2\">", "b") == "1");
  CHECK(attribute_of("<a b=\"\"><a b=\"2\">", "b") == "");
  CHECK(attribute_of("c=\"0\"<a b=\"1\"><a c=\"2\">", "c") == "2");
  CHECK(attribute_in(" from=\"a < b->c\" file=\"x=1\"", "from") == "a < b->c");
  CHECK(attribute_in(" from=\"a < b->c\" file=\"x=1\"", "file") == "x=1");
  CHECK(attribute_in(" file=\"x=1\"", "x") == "");
}

TEST_CASE("html: character references are characters") {
  CHECK(unescaped("a &lt; b &amp;&amp; &quot;&#39;&#x4e2d;&quot; &amp;lt;") == "a < b && \"'中\" &lt;");
}
