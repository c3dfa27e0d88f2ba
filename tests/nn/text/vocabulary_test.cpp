#include "nn/text/vocabulary.h"

#include "tests/support/expect.h"

TEST_CASE("vocabulary: special tokens first, then by count, then by bytes") {
  const Vocabulary v({{"b", "a", "c"}, {"c", "中", "<eos>"}, {"a", "c", "<eos>"}});
  CHECK(v.to_text() == "<pad>\n<bos>\n<eos>\n<unk>\nc\na\nb\n中\n");
  CHECK(v.size() == 8);
  CHECK(Vocabulary({{"中", "c"}, {"<eos>", "b"}, {"a", "c", "a", "c"}}).to_text() == v.to_text());
  CHECK(Vocabulary({{"b", "a", "c"}, {"c"}, {"a", "c"}}, 2).to_text() ==
        "<pad>\n<bos>\n<eos>\n<unk>\nc\na\n");
  CHECK(Vocabulary().size() == 4);
  CHECK(Vocabulary().encode({"<pad>", "<bos>", "<eos>", "<unk>"}) ==
        Ids{Vocabulary::pad, Vocabulary::bos, Vocabulary::eos, Vocabulary::unk});
}

TEST_CASE("vocabulary: encode and decode") {
  const Vocabulary v({{"a", "a", "b"}});
  CHECK(v.encode({"b", "x", "a"}) == Ids{5, 3, 4});
  CHECK(v.contains("a"));
  CHECK_FALSE(v.contains("x"));
  CHECK(v.decode({1, 4, 0, 5, 3, 2, 4}) == Tokens{"a", "b", "<unk>"});
  CHECK(v.decode({}).empty());
  CHECK(v.decode(v.encode({"a", "b", "a"})) == Tokens{"a", "b", "a"});
  CHECK_ERROR(v.token(6), "Vocabulary: there is no id 6; the ids are 0 to 5");
  CHECK_ERROR(v.decode({4, -1}), "Vocabulary: there is no id -1; the ids are 0 to 5");
}

TEST_CASE("vocabulary: saving and loading") {
  const Vocabulary v({{"我", "爱", "我", "中", " ", "<"}});
  CHECK(Vocabulary::from_text(v.to_text()).to_text() == v.to_text());
  CHECK(Vocabulary::from_text(v.to_text()).encode({"爱", "我"}) == v.encode({"爱", "我"}));
  CHECK(Vocabulary::from_text("<pad>\r\n<bos>\r\n<eos>\r\n<unk>\r\nb\r\na").encode({"a", "b"}) == Ids{5, 4});
}

TEST_CASE("vocabulary: errors") {
  const std::string special = "<pad>\n<bos>\n<eos>\n<unk>\n";
  const auto error_of = [](const std::string& text) { return message([&] { Vocabulary::from_text(text); }); };
  CHECK(error_of("<pad>\nthe\n") ==
        "Vocabulary: line 2 is \"the\" and must be <bos>; is this a saved vocabulary?");
  CHECK(error_of("") == "Vocabulary: the text has 0 lines; the first four are <pad> <bos> <eos> <unk>");
  CHECK(error_of("<pad>\n<bos>\n<eos>\n") ==
        "Vocabulary: the text has 3 lines; the first four are <pad> <bos> <eos> <unk>");
  CHECK(error_of(special + "a\nb\na\n") == "Vocabulary: token \"a\" appears twice, as 4 and 6");
  CHECK(error_of(special + "a\n\nb\n") == "Vocabulary: token 5 is empty");
  CHECK(error_of(special + "a\xFF\n") ==
        "Vocabulary: byte 1 of the text is not UTF-8; save the text in UTF-8");
  CHECK_ERROR(Vocabulary({{"a\nb"}}),
              "Vocabulary: token 4 contains a line break; a vocabulary is saved with one token on each line");
  CHECK_ERROR(Vocabulary({{"a"}}, 0), "Vocabulary: min_count is 0; it must be at least 1");
}
