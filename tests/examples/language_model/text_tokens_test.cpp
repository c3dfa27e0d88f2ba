#include "examples/language_model/text_tokens.h"

#include "tests/support/expect.h"

using namespace program;

TEST_CASE("text tokens: characters by frequency; rare ones are unknown") {
  const Characters three("bb我我我a\nc", 4);
  CHECK(three.size() == 4);
  CHECK(three.to_text() == "我b\n");
  CHECK(three.encode("b我x\n") == Ids{2, 1, 0, 3});
  CHECK(three.token(0) == "\uFFFD");
  CHECK(three.token(1) == "我");
  CHECK_ERROR(three.token(4), "Characters: there is no id 4; the ids are 0 to 3");
  CHECK(Characters("ab", 100).size() == 3);
  CHECK(Characters::from_text(three.to_text()).encode("b我x\n") == three.encode("b我x\n"));
  CHECK_ERROR(Characters::from_text("aba"), "Characters: a is there twice");
  CHECK_ERROR_HAS(Characters::from_text("a\xFF"), "byte 1 of the text is not UTF-8");
  CHECK_ERROR_HAS(Characters("a", 1), "Characters: size is 1; it must be at least 2");
}

TEST_CASE("text tokens: both kinds, saved as text; bits of unknown characters") {
  const std::string text = "the cat, the 猫, the cat\n";
  for (const std::string& kind : TextTokens::kinds()) {
    const TextTokens tokens(kind, text, 260);
    CHECK(tokens.kind() == kind);
    const TextTokens read = TextTokens::from_text(kind, tokens.to_text());
    CHECK(read.size() == tokens.size());
    const Ids ids = tokens.encode(text);
    CHECK(read.encode(text) == ids);
    std::string again;
    for (const int64_t id : ids) again += tokens.token(id);
    CHECK(again == text);
    CHECK(tokens.unknown_bits(ids) == 0);
  }
  const TextTokens characters("characters", "aab", 2), pairs("byte-pairs", "aab", 256);
  CHECK(characters.unknown_bits(characters.encode("abc")) == doctest::Approx(2 * std::log2(1114112.0)));
  CHECK(pairs.unknown_bits(pairs.encode(std::string(3, '\0'))) == 0);
  CHECK_ERROR(TextTokens::from_text("words", ""),
              "the tokens are \"words\"; they must be byte-pairs or characters");
}

TEST_CASE("text tokens: a stream contains whole characters and no control sequences") {
  Utf8Stream stream;
  Texts parts;
  for (const char* part :
       {"a\xE6", "\x88", "\x91\n", "\xF0\x9F\x98", "\x80\t", "\x80", "\xE6z", "\x1B[1m", "\xC3"})
    parts.push_back(stream.add(part));
  CHECK(parts == Texts{"a", "", "我\n", "", "\U0001F600\t", "\uFFFD", "\uFFFDz", "U+001B[1m", ""});
  CHECK(stream.end() == "\uFFFD");
  CHECK(stream.end() == "");
  CHECK(stream.add("b") == "b");
}

TEST_CASE("text tokens: a long text has the same ids, whatever parts it is encoded in") {
  const TextTokens tokens(TextTokens::kBytePairs, "one line\nand the next\n", 280);
  const std::string text = "one line\n\n  and the next line\nend";
  CHECK(encode_long(tokens, text) == tokens.encode(text));
  CHECK(encode_long(tokens, "").empty());
}
