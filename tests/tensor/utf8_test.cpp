#include "tensor/utf8.h"

#include "tests/support/expect.h"

TEST_CASE("utf8: the first character and its size") {
  const auto is = [](std::string_view text, uint32_t code, size_t size) {
    const auto first = first_character(text);
    return first.code == code && first.size == size;
  };
  CHECK(is("ab", 'a', 1));
  CHECK(is(std::string_view("\0b", 2), 0, 1));
  CHECK(is("éa", 0xE9, 2));
  CHECK(is("我爱", 0x6211, 3));
  CHECK(is("\U0001F600", 0x1F600, 4));
  CHECK(is("\u07FF", 0x7FF, 2));
  CHECK(is("\u0800", 0x800, 3));
  CHECK(is("\uFFFF", 0xFFFF, 3));
  CHECK(is("\U0010FFFF", 0x10FFFF, 4));
  // Empty; a continuation byte alone; incomplete; overlong; surrogates; above U+10FFFF; an impossible byte.
  for (const char* wrong : {"", "\x80", "\xE6\x88", "\xE6\x88g", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF",
                            "\xF0\x8F\xBF\xBF", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF4\x90\x80\x80", "\xFF"})
    CHECK(is(wrong, 0, 0));
}

TEST_CASE("utf8: the error gives the position of the invalid byte") {
  CHECK(valid_utf8("我a\xFFz") == 4);
  CHECK(valid_utf8("我a") == 4);
  CHECK(message([] { check_utf8("split", "我爱中国, ok"); }) == "");
  CHECK_ERROR(check_utf8("split", "我a\xFFz"),
              "split: byte 4 of the text is not UTF-8; save the text in UTF-8");
  CHECK(message([] { check_utf8("split", "ab\xE6\x88"); }).starts_with("split: byte 2 of the text"));
}

TEST_CASE("utf8: encoding is the inverse of first_character") {
  CHECK(utf8('a') == "a");
  CHECK(utf8(0) == std::string(1, '\0'));
  CHECK(utf8(0x6211) == "我");
  for (const uint32_t code : {0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xD7FFu, 0xE000u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    const std::string bytes = utf8(code);
    const Utf8Character first = first_character(bytes);
    CHECK(first.code == code);
    CHECK(first.size == bytes.size());
  }
  CHECK_ERROR_HAS(utf8(0xD800), "utf8: 55296 is not a character");
  CHECK_ERROR_HAS(utf8(0x110000), "utf8: 1114112 is not a character");
}

TEST_CASE("printable: invisible characters as codes or pictures; replaced: every occurrence") {
  CHECK(printable("我 love 中国") == "我 love 中国");
  CHECK(printable("a\tb\x1B[1m\u200Bc\uFEFF") == "aU+0009bU+001B[1mU+200BcU+FEFF");
  CHECK(printable("a\xFFz\xE6\x88") == "a<FF>z<E6><88>");
  CHECK(printable("") == "");
  CHECK(printable("a\n\x1b\x7f我\u009b\uffff\xFF", Hidden::pictures) == "a␊␛\uFFFD我\uFFFD\uFFFD\uFFFD");
  CHECK(replaced("aXbX", "X", "XX") == "aXXbXX");
  CHECK_ERROR_HAS(replaced("aXbX", "", "-"), "the part to replace is empty");
}
