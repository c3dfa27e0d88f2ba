#include "nn/text/tokenise.h"

#include "tests/support/expect.h"

TEST_CASE("split_words: white space separates words, marks are tokens") {
  CHECK(split_words("I love China") == Tokens{"I", "love", "China"});
  CHECK(split_words("  Is he here?\n") == Tokens{"Is", "he", "here", "?"});
  CHECK(split_words("Don't go, Ann!") == Tokens{"Don't", "go", ",", "Ann", "!"});
  CHECK(split_words("don’t") == Tokens{"don’t"});
  CHECK(split_words("well-known 3.5 1,000 x.y a,b -3 'a' end.") == Tokens{"well-known", "3.5", "1,000", "x",
                                                                          ".", "y", "a", ",", "b", "-", "3",
                                                                          "'", "a", "'", "end", "."});
  CHECK(split_words("\"(a)\"...") == Tokens{"\"", "(", "a", ")", "\"", ".", ".", "."});
  CHECK(split_words("snake_case naïve Ünï") == Tokens{"snake_case", "naïve", "Ünï"});
  CHECK(split_words("我\u3000爱中国。“好”，吗？") ==
        Tokens{"我", "爱中国", "。", "“", "好", "”", "，", "吗", "？"});
  CHECK(split_words("a\u00A0b\r\nc\td") == Tokens{"a", "b", "c", "d"});
  CHECK(split_words("").empty());
  CHECK(split_words(" \n").empty());
  CHECK(split_words("'") == Tokens{"'"});
}

TEST_CASE("join_words: the inverse for plain sentences") {
  for (const char* text : {"Don't go, Ann!", "Is he here? Yes.", "I ate 3.5 apples; you did not.", "", "a"})
    CHECK(join_words(split_words(text)) == text);
}

TEST_CASE("split_characters: single characters, spaces if wanted") {
  CHECK(split_characters("我爱中国") == Tokens{"我", "爱", "中", "国"});
  CHECK(split_characters(" 我 a\u3000é\n") == Tokens{"我", "a", "é"});
  CHECK(split_characters("a b", true) == Tokens{"a", " ", "b"});
  CHECK(split_characters("\U0001F600e\u0301") == Tokens{"\U0001F600", "e", "\u0301"});
  CHECK(split_characters("").empty());
}

TEST_CASE("split_words and split_characters: the error gives the position of the invalid byte") {
  CHECK_ERROR(split_words("ab \xC3("),
              "split_words: byte 3 of the text is not UTF-8; save the text in UTF-8");
  CHECK_ERROR(split_characters("我\xE7\x88"),
              "split_characters: byte 3 of the text is not UTF-8; save the text in UTF-8");
}
