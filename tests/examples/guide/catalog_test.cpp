#include "examples/guide/catalog.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

using program::Catalog;

TEST_CASE("catalog: the longest phrase is replaced, and only whole words") {
  const Catalog zh("# a comment\n\nloss\t损失\ntraining loss\t训练损失\nleave-one-out\t留一\nw\t宽\n");
  CHECK(zh.text("training loss, loss; leave-one-out loss") == "训练损失, 损失; 留一 损失");
  for (const char* same : {"lossless", "--loss", "out/loss.svg", "W_q.loss", "a_loss", "loss-free", "now"})
    CHECK(zh.text(same) == same);
  CHECK(zh.text("The loss.") == "The 损失.");
  CHECK(zh.text("w") == "宽");
  CHECK(Catalog().text("loss") == "loss");
}

TEST_CASE("catalog: {1} to {9} are numbers or words, in any order") {
  const Catalog zh("from {1} to {2}\t到 {2}（自 {1}）\n{1} others\t其余 {1} 个\nstep {1}\t第 {1} 步\n");
  CHECK(zh.text("from 0.5 to 1.095, then") == "到 1.095（自 0.5）, then");
  CHECK(zh.text("the 38 others.") == "the 其余 38 个.");
  CHECK(zh.text("step 12: from a b to c") == "第 12 步: from a b to c");
  CHECK(zh.text("footstep 12") == "footstep 12");
}

TEST_CASE("catalog: a table that cannot be read names the line") {
  CHECK_ERROR_HAS(Catalog("a\tb\nno tab\n"), "line 2: there is no tab");
  CHECK_ERROR_HAS(Catalog("a {1}\tb {2}\n"), "line 1: {2} is not in the phrase");
}

TEST_CASE("catalog: columns of an output stay where they are") {
  const Catalog zh("model\t模型\naverage\t平均\nlearned width\t学到的宽度\nloss\t损失\nsteps\t步\n");
  const std::string printed =
      "model            loss  steps\n"
      "average         1.250      0\n"
      "learned width   0.317    120\n"
      "\n"
      "  loss  after\n";
  CHECK(zh.output(printed) ==
        "模型             损失     步\n"
        "平均            1.250      0\n"
        "学到的宽度      0.317    120\n"
        "\n"
        "  损失  after\n");
  // A cell that is aligned with nothing keeps its distance.
  CHECK(zh.output("learned width   [2, 3]\n 1 2 3\n") == "学到的宽度   [2, 3]\n 1 2 3\n");
}

TEST_CASE("catalog: a translation that is wider than its column moves what follows, until there is space") {
  const Catalog zh("w\t核宽的倒数\n");
  CHECK(zh.output("w  n           m\n1  2           3\n") == "核宽的倒数  n  m\n1  2           3\n");
}

TEST_CASE("catalog: texts of pictures and pages") {
  const Catalog zh("a < b\t甲 < 乙\nstep\t步\n");
  CHECK(
      zh.picture("<svg><text id=\"step\"> step</text><title>a &lt; b</title><text>a &amp; c</text></svg>") ==
      "<svg><text id=\"step\"> 步</text><title>甲 &lt; 乙</title><text>a &amp; c</text></svg>");
  CHECK(zh.page("<button title=\"step\">step</button><script>step</script><script type=\"application/json\" "
                "id=\"data\">[{\"step\":[\"step 1\",2]}]</script>") ==
        "<button title=\"步\">步</button><script>step</script><script type=\"application/json\" "
        "id=\"data\">[{\"step\":[\"步 1\",2]}]</script>");
}

TEST_CASE("catalog: the Chinese one can be read, and has every phrase once") {
  const std::string table = read_file(std::string(HEED_SOURCE_DIR) + "/examples/guide/zh.tsv");
  const Catalog zh(table);
  std::set<std::string> phrases;
  for (const std::string& line : lines_of(table))
    if (!line.empty() && !line.starts_with("#"))
      CHECK_MESSAGE(phrases.insert(line.substr(0, line.find('\t'))).second, line);
  CHECK(phrases.size() > 100);
}
