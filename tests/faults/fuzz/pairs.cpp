// Any file of pairs is read or throws. The sentences must be valid, and can be tokenized and split.

#include "examples/translate/grammar.h"
#include "tensor/utf8.h"
#include "tests/faults/fuzz/fuzz.h"

using namespace program;

void seeds(const std::function<void(std::string_view)>& add) {
  heed::Generator generator(1);
  std::string text;
  for (const Pair& pair : generate_corpus(generator, 12)) text += pair.source + '\t' + pair.target + '\n';
  add(text);
  text.clear();
  for (char c = 'a'; c < 'l'; ++c) text += std::string(2, c) + " b\t" + c + "\r\n\n";
  add("\xEF\xBB\xBF" + text);
  add("no tab\n" + text);
}

void run(std::string_view bytes) {
  const MemoryFile file(bytes);
  int64_t skipped = 0;
  const std::vector<Pair> pairs = read_pairs(file.path(), true, &skipped);
  for (const Pair& pair : pairs)
    for (const std::string& sentence : {pair.source, pair.target}) {
      expect(heed::valid_utf8(sentence) == sentence.size(), "a sentence that is not UTF-8");
      expect(sentence.find_first_of("\t\n") == std::string::npos, "a sentence with a tab or line break");
      const heed::Tokens tokens = tokenise(sentence);
      expect(!tokens.empty(), "a sentence without words");
      for (const std::string& token : tokens)
        expect(!token.empty() && heed::valid_utf8(token) == token.size(), "a broken word");
      join(tokens);
    }
  const Split parts = split(pairs, 1);
  expect(parts.train.size() + parts.test.size() == pairs.size(), "pairs lost");
  if (skipped == 0) expect(read_pairs(file.path()) == pairs, "no line was skipped, but it differs");
}
