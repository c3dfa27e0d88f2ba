#include "examples/language_model/texts.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

using program::HeldOutText;

TEST_CASE("texts: the last tenth of a file is held out, cut between characters") {
  const Folder folder;
  std::string characters;
  for (int i = 0; i < 14; ++i) characters += "我";
  const HeldOutText text = program::read_held_out_text(folder.write("a", "\xEF\xBB\xBF" + characters));
  CHECK(text.learned + text.held_out == characters);
  CHECK(text.held_out == "我");  // a tenth, 4 bytes, would begin within a character
  CHECK(text.description == folder / "a" + ", its last tenth held out");
}

TEST_CASE("texts: heed's own sources, every tenth file held out") {
  const HeldOutText text = program::own_sources();
  CHECK(contains(text.description, " files of heed's sources"));
  CHECK(contains(text.learned + text.held_out, "heed"));
  CHECK(text.held_out.size() > text.learned.size() / 20);
  CHECK_FALSE(contains(program::read_held_out_text("").learned, "\r"));
}
