#include "nn/onnx/wire.h"

#include "tests/support/expect.h"

namespace {

struct WireSample {
  int64_t number = 0;
  float single = 0;
  double real = 0;
  std::string text = {};
  std::vector<int64_t> numbers = {};
  std::vector<float> singles = {};
  std::vector<std::string> texts = {};
  std::vector<WireSample> children = {};
  std::map<std::string, int64_t> map = {};

  void fields(auto& f) {
    f(1, number)(2, single)(3, real)(4, text)(5, numbers)(6, singles)(7, texts)(8, children)(9, map);
  }
};

std::string written(WireSample x) {
  heed::onnx::wire::Writer f;
  x.fields(f);
  return f.bytes;
}

WireSample parsed(std::string_view bytes) {
  WireSample x;
  const std::string where = "test";
  heed::onnx::wire::Reader(bytes, where).message([&](auto& f) { x.fields(f); });
  return x;
}

std::string chars(std::initializer_list<int> values) { return {values.begin(), values.end()}; }

}  // namespace

TEST_CASE("wire: numbers have the bytes of the format's documentation") {
  CHECK(written({.number = 150}) == chars({0x08, 0x96, 0x01}));
  CHECK(written({.number = -1}) == chars({8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}));
  CHECK(written({.single = 1}) == chars({0x15, 0, 0, 0x80, 0x3F}));
  CHECK(written({.text = "testing"}) == chars({0x22, 7}) + "testing");
  CHECK(written({.numbers = {3, 270, 86942}}) == chars({0x2A, 6, 3, 0x8E, 2, 0x9E, 0xA7, 5}));
  CHECK(written({}).empty());
}

TEST_CASE("wire: a message is read as it was written") {
  const WireSample x{.number = INT64_MIN,
                     .single = -2.5F,
                     .real = 1e300,
                     .text = std::string(300, 'x'),
                     .numbers = {0, -7, INT64_MAX},
                     .singles = {1, 0.5F},
                     .texts = {"", "a"},
                     .children = {{.number = 3}, {}},
                     .map = {{"", 1}, {"b", 0}}};
  const WireSample y = parsed(written(x));
  CHECK(y.number == x.number);
  CHECK(y.single == x.single);
  CHECK(y.real == x.real);
  CHECK(y.text == x.text);
  CHECK(y.numbers == x.numbers);
  CHECK(y.singles == x.singles);
  CHECK(y.texts == x.texts);
  CHECK(y.children.size() == 2);
  CHECK(y.children[0].number == 3);
  CHECK(y.map == x.map);
}

TEST_CASE("wire: lists may also be unpacked, and unknown fields are ignored") {
  CHECK(parsed(chars({0x28, 3, 0x28, 4})).numbers == std::vector<int64_t>{3, 4});
  CHECK(parsed(chars({0x35, 0, 0, 0x80, 0x3F})).singles == std::vector<float>{1});
  const std::string unknown =
      chars({0xF8, 1, 5, 0xF9, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0xFA, 1, 2, 9, 9, 0xFD, 1, 1, 2, 3, 4});
  CHECK(parsed(unknown + chars({0x08, 7})).number == 7);
}

TEST_CASE("wire: malformed messages throw with the position of the byte") {
  const auto wrong = [](const std::string& bytes, const std::string& said) {
    CHECK_ERROR_HAS(parsed(bytes), said);
  };
  wrong(chars({0x08}), "test: byte 1: the file ends in a number");
  wrong(chars({0x08, 0x80}), "test: byte 2: the file ends in a number");
  wrong(chars({8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}), "a number has more than ten bytes");
  wrong(chars({0x22, 5, 'a'}), "test: byte 2: a value of 5 bytes, and its message has 1 left");
  wrong(chars({0x22, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}),
        "a value of 18446744073709551615 bytes");
  wrong(chars({0x0A, 0}), "field 1 has the wire type 2 and must have 0");
  wrong(chars({0x20, 0}), "field 4 has the wire type 0 and must have 2");
  wrong(chars({0x2B, 0}), "field 5 has the wire type 3 and must have 0");
  wrong(chars({0xFB, 1, 0}), "field 31 has the wire type 3; known are 0, 1, 2 and 5");
  wrong(chars({0x00, 0}), "a field has the number 0");
  wrong(chars({0x15, 0}), "a value of 4 bytes, and its message has 1 left");
  wrong(chars({0x2A, 1, 0x80}), "the file ends in a number");
  wrong(chars({0x42, 2, 0x22, 5}) + "abcde", "test: byte 4: a value of 5 bytes, and its message has 0 left");

  WireSample nested;
  for (int i = 0; i < 64; ++i) nested = {.children = {nested}};
  CHECK(parsed(written(nested)).children.size() == 1);
  wrong(written({.children = {nested}}), "messages are nested more than 64 levels deep");
}
