#include "examples/translate/alignment.h"

#include "tests/support/results.h"

TEST_CASE("alignment: pictures of the sentences, which a later model removes") {
  const Folder folder;
  program::Program self("test", "");
  self.out = folder / "out";
  heed::manual_seed(1);
  const std::vector<program::Pair> pairs(3, {"a b", "c d e"});
  const program::Translation translation("attention", "additive", pairs);
  const std::vector<heed::Tokens> sources(6, {"a", "b"}), targets(6, {"c", "d"});
  program::draw_attention(self, translation, sources, targets);
  const auto drawn = [&](const std::string& file) { return std::filesystem::exists(folder / "out/" + file); };
  CHECK(drawn("attention.html"));
  for (const char* file : {"alignment_1.svg", "alignment_4.svg"}) CHECK(drawn(file));
  CHECK_FALSE(drawn("alignment_5.svg"));
  program::remove_attention(self);
  for (const char* file : {"attention.html", "alignment_1.svg", "alignment_4.svg"}) CHECK_FALSE(drawn(file));
}
