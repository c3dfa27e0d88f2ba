// Drives the bench of the translators in Chromium.

#include "tests/support/reader.h"

namespace {

std::string of_translators(const std::string& key) { return Reader::control("translators", key); }

// What attention writes.
std::string written_by_attention(Reader& reader) {
  return reader.text("[name=translators] .translations p:nth-of-type(2) b");
}

}  // namespace

TEST_CASE("page translators: what a hand changes, and what must and must not change with it" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  const std::string picture = Reader::picture("translators", "alignment");
  const std::string hatched = picture + ".querySelectorAll('.forbidden').length";
  // The weight of a cell, as it is spoken: "I: 我 0.91, 爱 0.05, ...; love: ..."
  const auto weight = [&](size_t row, size_t column) -> double {
    return reader.tab.evaluate("eyes.numbers(" + picture + ".ariaLabel.split(';')[" + std::to_string(row) +
                               "])[" + std::to_string(column) + "]");
  };
  for_each_hand(reader, [&](Hand hand) {
    reader.slide(of_translators("state"), 0, hand);
    const std::string untrained = written_by_attention(reader);
    CHECK(untrained.ends_with("✗"));
    reader.slide(of_translators("state"), 13, hand);
    CHECK(reader.numbers("[name=translators] .reach output") == std::vector<double>{800});
    CHECK(written_by_attention(reader) == "I love China ✓");

    const double before = weight(1, 1), other = weight(0, 0);
    CHECK(before > 0.1);
    reader.pick(picture, 1, 1, hand);
    if (hand == Hand::keys) reader.tab.key("Enter");
    reader.wait_until(hatched + " === 1 && eyes.one('[name=translators] .translations p:nth-of-type(4)')");
    CHECK(weight(1, 1) == 0);
    CHECK(weight(0, 0) == other);
    reader.press(of_translators("clear"), hand);
    CHECK(reader.tab.evaluate(hatched) == 0);
    CHECK(weight(1, 1) == before);

    const std::string sample = Reader::part("translators", "button[lang=zh-CN]", 1);
    reader.press(sample, hand);
    reader.wait_until("eyes.numbers(" + picture + ".ariaLabel).length > 12");
    CHECK(reader.tab.evaluate(of_translators("text") + ".value") ==
          reader.tab.evaluate(sample + ".textContent"));
    reader.press(Reader::part("translators", "button[lang=zh-CN]"), hand);
    CHECK(written_by_attention(reader) == "I love China ✓");
  });
}

TEST_CASE("page translators: learn in their Worker and translate what the reader writes" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  const auto said = [&](const std::string& wanted) {
    reader.wait_until("eyes.one('[name=translators] .translations').textContent.includes(" +
                      Json(wanted).dump() + ")");
  };
  reader.write(of_translators("text"), "我喝茶");
  said("I drink tea");
  reader.write(of_translators("text"), "我😀爱龘");
  said("😀 龘");
  for (const char* nothing : {"", "  ", "。！"}) reader.write(of_translators("text"), nothing);
  said("😀 龘");
  reader.write(of_translators("text"), "我爱中国");
  said("I love China");

  reader.press(of_translators("learn"));
  reader.wait_until("eyes.numbers(eyes.one('[name=translators] .reach output').textContent)[0] >= 20");
  reader.press(of_translators("stop"));
  reader.wait_until(of_translators("on"));
  const std::vector<double> losses = reader.column("translators", 2, 2);
  CHECK(losses.back() > 0);
  reader.press(of_translators("on"));  // goes on where it was stopped
  reader.wait_until("eyes.numbers(eyes.one('[name=translators] .reach output').textContent)[0] >= 40");
  reader.press(of_translators("stop"));
  CHECK(reader.column("translators", 2, 2).back() < losses.back());
  CHECK(reader.tab.console() == "");
}
