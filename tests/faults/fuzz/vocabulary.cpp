// Any text is read as a vocabulary or throws. Tokens and ids must match, and the vocabulary must write the
// text that it reads.

#include "nn/text/vocabulary.h"

#include "tests/faults/fuzz/fuzz.h"

using namespace heed;

void seeds(const std::function<void(std::string_view)>& add) {
  const std::string text = Vocabulary({{"a", "b", "中", "国", "a long token"}}).to_text();
  add(text);
  add("<pad>\r\n<bos>\r\n<eos>\r\n<unk>\r\na\r\n");
}

void run(std::string_view bytes) {
  const Vocabulary words = Vocabulary::from_text(bytes);
  for (int64_t id = 0; id < words.size(); ++id)
    expect(words.id(words.token(id)) == id, "a token has another id");
  const std::string text = words.to_text();
  expect(Vocabulary::from_text(text).to_text() == text, "read again, it differs");
}
