#include "examples/guide/excerpt.h"

#include "tests/support/expect.h"

using program::excerpt;

TEST_CASE("excerpt: from the comment above to the end of a declaration, statement or row") {
  const auto lines = [](const char* source, const char* from) {
    const program::Excerpt part = excerpt(source, from);
    return std::pair(part.first, part.lines.size());
  };
  CHECK(lines("a;\n\n// one\n// two\nint f(\n    int x);\nint g();\n", "int f(") ==
        std::pair<int64_t, size_t>(3, 4));
  CHECK(lines("  if (x == '{') {  // a }\n    y = \"}\";\n  }\n  z;\n", "if (x") ==
        std::pair<int64_t, size_t>(1, 3));
  CHECK(lines("A(int a)\n    : x(a),\n      y(a) {}\nz;\n", "A(int") == std::pair<int64_t, size_t>(1, 3));
  CHECK(lines("f({1,\n   2}),\ng(),\n", "f({1") == std::pair<int64_t, size_t>(1, 2));
  CHECK_ERROR_HAS(excerpt("int f() {\n", "int f"), "does not end");
}
