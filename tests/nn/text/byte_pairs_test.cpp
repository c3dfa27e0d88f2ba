#include "nn/text/byte_pairs.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

TEST_CASE("byte pairs: the most frequent pair is joined first; ties go to the smallest ids") {
  // "ab" occurs 4 times; then "(ab)c" and " (ab)" twice each, and a space is smaller than 'c'.
  const BytePairs tokens("ab abc abc ab", 259);
  CHECK(tokens.size() == 259);
  CHECK(tokens.token(256) == "ab");
  CHECK(tokens.token(257) == " ab");
  CHECK(tokens.token(258) == " abc");
  CHECK(tokens.encode("ab abc abb") == Ids{256, 258, 257, 'b'});
  CHECK(tokens.decode({258, 256}) == " abcab");
  CHECK(BytePairs("ab abc abc ab", 1000).size() == 259);  // no other pair occurs twice
  CHECK(BytePairs("aaaa aaaa", 258).token(257) == "aaaa");
  CHECK(BytePairs().size() == 256);
  CHECK(BytePairs().encode("aé") == Ids{'a', 0xC3, 0xA9});
}

TEST_CASE("byte pairs: the same result as counting all pairs again for each token") {
  Generator random(3);
  std::string text;
  std::vector<Ids> words;  // one piece each
  for (int i = 0; i < 400; ++i) {
    Ids word;
    for (int64_t n = random.integer(2, 9); n > 0; --n)
      word.push_back('a' + random.integer(0, 3) * random.integer(0, 3));
    for (const int64_t byte : word) text += static_cast<char>(byte);
    text += '\n';
    words.push_back(word);
  }
  std::string learned;
  for (int64_t id = 256; id < 400; ++id) {
    std::map<std::pair<int64_t, int64_t>, int64_t> counts;
    for (const Ids& word : words)
      for (size_t i = 1; i < word.size(); ++i) ++counts[{word[i - 1], word[i]}];
    const auto [best, count] =
        *std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
    if (count < 2) break;
    learned += std::to_string(best.first) + " " + std::to_string(best.second) + "\n";
    for (Ids& word : words)
      for (size_t i = 1; i < word.size(); ++i)
        if (word[i - 1] == best.first && word[i] == best.second) {
          word[i - 1] = id;
          word.erase(word.begin() + static_cast<std::ptrdiff_t>(i));
        }
  }
  CHECK(BytePairs(text, 400).to_text() == learned);
  CHECK(lines_of(learned).size() > 100);
}

TEST_CASE("byte pairs: no token crosses the end of a piece") {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "  return x1 + 我爱_y;\n\n    if (";
  const BytePairs tokens(text, 400);
  Texts parts;
  for (const int64_t id : tokens.encode(text.substr(0, text.size() / 50))) parts.push_back(tokens.token(id));
  CHECK(parts == Texts{" ", " return", " x", "1", " +", " 我爱_y", ";", "\n\n   ", " if", " ("});
  // Long runs are cut, between characters if possible.
  const BytePairs long_ones(std::string(10000, 'a') + std::string(3000, '\x80'), 1000);
  size_t longest = 0;
  for (int64_t id = 0; id < long_ones.size(); ++id) longest = std::max(longest, long_ones.token(id).size());
  CHECK(longest > 30);
  CHECK(longest <= 64);
}

TEST_CASE("byte pairs: decode is the inverse of encode for any bytes") {
  Generator random(7);
  const BytePairs tokens("the cat sat on the mat, the cat sat on the 我爱中国 我爱中国", 300);
  const std::string letters = "the ca\n我\x80  \t01.,_";
  for (int i = 0; i < 300; ++i) {
    std::string text;
    const bool any = i % 2 == 0;
    for (int64_t n = random.integer(0, 200); n > 0; --n)
      text += any ? static_cast<char>(random.integer(0, 256))
                  : letters[static_cast<size_t>(random.integer(0, std::ssize(letters)))];
    CHECK(tokens.decode(tokens.encode(text)) == text);
  }
  CHECK(tokens.decode({}).empty());
  CHECK_ERROR(tokens.decode({5, 300}),
              "BytePairs: there is no id 300; the ids are 0 to " + std::to_string(tokens.size() - 1));
  CHECK_ERROR_HAS(tokens.token(-1), "BytePairs: there is no id -1");
  CHECK_ERROR(BytePairs("a", 255), "BytePairs: size is 255; it must be at least 256, a token for each byte");
}

TEST_CASE("byte pairs: saving and loading") {
  const BytePairs tokens("ab abc abc ab", 259);
  CHECK(tokens.to_text() == "97 98\n32 256\n257 99\n");
  const BytePairs read = BytePairs::from_text(tokens.to_text());
  CHECK(read.to_text() == tokens.to_text());
  CHECK(read.encode("abc abc") == tokens.encode("abc abc"));
  CHECK(BytePairs::from_text("").size() == 256);
  CHECK_ERROR(
      BytePairs::from_text("97 98\n97 257\n"),
      "BytePairs: line 2 must be two ids from 0 to 256, with a space between them; is this a saved text of "
      "byte pairs?");
  CHECK_ERROR(BytePairs::from_text("97 98\n97 98\n"),
              "BytePairs: the pair 97 98 appears twice, as 256 and 257");
  for (const char* wrong : {"97", "97 ", " 97 98", "97  98", "-1 5", "97 98 ", "a b", "97 98\r\n", "\n",
                            "97 99999999999999999999"})
    CHECK_ERROR_HAS(BytePairs::from_text(wrong), "line 1 must be two ids");
  std::string doubled = "97 97\n";
  for (int id = 256; id < 400; ++id) doubled += std::to_string(id) + " " + std::to_string(id) + "\n";
  CHECK_ERROR_HAS(BytePairs::from_text(doubled), "has 128 bytes; a piece of text has at most 64");
  each_damage(tokens.to_text(),
              [](const std::string& text) { message([&] { BytePairs::from_text(text); }); });
}
