#include "nn/view/tape_page.h"

#include "tests/support/expect.h"

using namespace heed;

namespace {

std::string count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return std::to_string(n) + " " + part;
}

}  // namespace

TEST_CASE("tape_svg: a box for each tensor with value, gradient and rule, an edge for each operand") {
  Tape tape;
  const Tensor a = tensor({1, 2}, float64).requires_grad_();
  tape.name("a<b", a);
  sum(a * 3 + a).backward();
  const std::string svg = tape_svg(tape);
  CHECK(count(svg, "<g class=\"node") == "5 <g class=\"node");
  CHECK(count(svg, "<path class=\"edge\"") == "5 <path class=\"edge\"");
  CHECK(contains(svg, ">a&lt;b</text>"));
  CHECK(contains(svg, "#3 = mul</text>"));
  CHECK(contains(svg, "da&lt;b = g 3"));
  CHECK(contains(svg, "∂ [4, 4]</text>"));
  CHECK_FALSE(contains(svg, "nan"));
  CHECK(tape_svg(Tape()).starts_with("<svg "));
}

TEST_CASE("tape_page: one file that names nothing outside, names harmless") {
  Tape tape;
  const Tensor a = tensor({1, 2}).requires_grad_();
  tape.name("</script><b>", a);
  sum(a).backward();
  const std::string page = tape_page(tape, {.title = "a<b", .language = "zh"});
  CHECK(page.starts_with(
      "<!DOCTYPE html>\n<html lang=\"zh\">\n<meta charset=\"utf-8\">\n<title>a&lt;b</title>"));
  CHECK(page.find("http:") == page.rfind("http:"));  // the name of SVG
  for (const char* part : {"https:", "innerHTML", "</script><b>", "{{"}) CHECK_FALSE(contains(page, part));
  CHECK(contains(page, R"("gradients":[{"node":1,"rows":["1"]},{"node":0,"rows":["[1, 1]"],"edge":0}])"));
}
