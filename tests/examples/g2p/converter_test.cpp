#include "examples/g2p/converter.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace program;

TEST_CASE("load_word_models: errors for files that are missing or of another program") {
  const Folder folder;
  Program self("g2p", "");
  self.out = folder / "out";
  G2pOptions options;
  CHECK_ERROR(load_word_models(self, options),
              folder / "out" + "/g2p.safetensors: there is no model; g2p train makes one");
  const std::vector<Pair> pairs(3, {"a b", "c d"});
  const std::string path = folder / "translate.safetensors";
  Translation("rnn", "none", pairs).save(path);
  options.ensemble = {path};
  CHECK_ERROR(load_word_models(self, options),
              path + ": is a model of translate; g2p train makes one for words");
}
