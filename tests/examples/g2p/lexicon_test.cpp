#include "examples/g2p/lexicon.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace program;
using heed::Tokens;

TEST_CASE("letters_of: characters, and the letters of Hangul syllables") {
  CHECK(letters_of("Ærø's") == Tokens{"Æ", "r", "ø", "'", "s"});
  CHECK(letters_of("a còng") == Tokens{"a", " ", "c", "ò", "n", "g"});
  CHECK(letters_of("가강") == Tokens{"ᄀ", "ᅡ", "ᄀ", "ᅡ", "ᆼ"});
  CHECK(letters_of("힣") == Tokens{"ᄒ", "ᅵ", "ᇂ"});  // the last syllable
  CHECK(letters_of("").empty());
}

TEST_CASE("read_lexicon: pronunciations in columns and on lines") {
  const Folder folder;
  const std::string path =
      folder.write("a.tsv", "\xEF\xBB\xBFREAD\tR IY D\tR EH D\r\n\nA\tAH\nREAD\tR  EH D \n A \tEY\n");
  const std::vector<Entry> entries = read_lexicon(path);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].word == "READ");
  CHECK(entries[0].letters == Tokens{"R", "E", "A", "D"});
  CHECK(entries[0].sounds == std::vector<Tokens>{{"R", "IY", "D"}, {"R", "EH", "D"}});
  CHECK(entries[1].sounds == std::vector<Tokens>{{"AH"}, {"EY"}});
}

TEST_CASE("read_lexicon: reports all invalid lines at once") {
  const Folder folder;
  const std::string bad =
      folder.write("bad.tsv", "GOOD\tG UH D\nno tab\n\tAH\nA\t\nB\tB \xff\nC\tS <eos>\nD\tD IY\t \n" +
                                  std::string(101, 'x') + "\tEH K S\nE\tIY\rF\tEH F\n \tAH\n");
  const std::string text = message([&] { read_lexicon(bad); });
  CHECK(contains(text, "bad.tsv: 9 rows cannot be used"));
  for (const char* why :
       {"2  has no tab; a line is a word, a tab, its phones", "3  the word before the tab is empty",
        "4  a pronunciation is empty", "5  the line: byte 4 of the text is not UTF-8",
        "6  <eos> is no phone here", "7  a pronunciation is empty", "8  the word has 101 letters",
        "9  contains a carriage return; lines end in LF or CRLF", "10  the word before the tab is empty"})
    CHECK_MESSAGE(contains(text, why), text);
  int64_t skipped = 0;
  CHECK(read_lexicon(bad, true, &skipped).size() == 1);
  CHECK(skipped == 9);
  CHECK_ERROR_HAS(read_lexicon(folder.write("zero.tsv", std::string("A\0\tAH\n", 6))),
                  "contains a zero byte");
  CHECK_ERROR_HAS(read_lexicon(folder.write("empty.tsv", "\n \n")), "empty.tsv: has no words");
  CHECK_ERROR_HAS(read_lexicon(folder / "none.tsv"), "cannot be read");
}

TEST_CASE("sampled: evenly through the list; all of them for 0 or a large number") {
  std::vector<Entry> entries;
  for (const char* word : {"a", "b", "c", "d", "e", "f", "g"}) entries.push_back({word, {word}, {{"X"}}});
  const auto words = [&](int64_t count) {
    Texts taken;
    for (const Entry& entry : sampled(entries, count)) taken.push_back(entry.word);
    return taken;
  };
  CHECK(words(3) == Texts{"a", "c", "e"});
  CHECK(words(1) == Texts{"a"});
  for (const int64_t count : {0, 7, 8}) CHECK(words(count) == Texts{"a", "b", "c", "d", "e", "f", "g"});
}

// For READ, the second pronunciation is nearer to R EH T (1 edit of 3); for TWO, the longer of two ties
// counts.
TEST_CASE("PhoneScore: any pronunciation is correct; errors count against the nearest, longest one") {
  PhoneScore score;
  const Entry read{"READ", letters_of("READ"), {{"R", "IY", "D"}, {"R", "EH", "D"}}};
  CHECK(score.add(read, {"R", "EH", "D"}));
  CHECK_FALSE(score.add(read, {"R", "EH", "T"}));
  CHECK_FALSE(score.add({"TWO", {}, {{"T", "UW"}, {"T", "W", "UW"}}}, {"T", "UH", "UW"}));
  CHECK_FALSE(score.add({"A", {}, {{"AH"}}}, {}));
  CHECK(score.words == 4);
  CHECK(score.wrong == 3);
  CHECK(score.edits == 3);
  CHECK(score.phones == 3 + 3 + 3 + 1);
  CHECK(score.word_errors() == 0.75);
  CHECK(score.phone_errors() == 0.3);
  CHECK(PhoneScore().word_errors() == 0);
}
