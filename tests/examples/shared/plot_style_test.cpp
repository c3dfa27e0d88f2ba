#include "examples/shared/plot_style.h"

#include "examples/guide/html.h"
#include "examples/shared/program.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

using program::gnuplot_program;

TEST_CASE("plot_style: a program for gnuplot") {
  const std::string drawn = gnuplot_program("a", "plot x\n");
  for (const char* part :
       {"set terminal svg size 520,", "target = 'a.svg'\nset output target\n", "\nplot x\n", "load 'a.gp'"})
    CHECK(contains(drawn, part));
}

TEST_CASE("plot_style: a long title has two lines of about the same length") {
  const auto drawn = [](const std::string& title) {
    const std::string all = gnuplot_program("a", "set title " + title + " noenhanced\nplot x\n");
    const size_t begin = all.rfind("set title ");
    return all.substr(begin, all.find('\n', begin) - begin);
  };
  CHECK(drawn("'Loss'") == "set title 'Loss' noenhanced");
  const std::string half(24, 'a');
  CHECK(drawn("'" + half + " it''s \"\\" + half + " end'") ==
        "set title \"" + half + " it's\\n\\\"\\\\" + half + " end\" noenhanced");
  CHECK(drawn("'" + half + " `id` " + half + "'") ==
        "set title \"" + half + " \\140id\\140\\n" + half + "\" noenhanced");
  CHECK(drawn("'Squares of numbers: y = x * x for x from 0 to 10, and others'") ==
        "set title \"Squares of numbers:\\ny = x * x for x from 0 to 10, and others\" noenhanced");
}

TEST_CASE("plot_style: a legend of many lines makes the picture higher, not the graph lower") {
  const Folder folder;
  std::string plot = "set key below vertical maxcols 1\nplot x";
  for (int i = 0; i < 9; ++i) plot += ", x * " + std::to_string(i) + " title 'a line with a long name'";
  folder.write("a.gp", gnuplot_program("a", plot + "\n"));
  folder.write("b.gp", gnuplot_program("b", "unset key\nplot x\n"));
  if (!program::run_tool(folder.path.string(), {"gnuplot", "a.gp"})) return;
  REQUIRE(program::run_tool(folder.path.string(), {"gnuplot", "b.gp"}));
  const auto height = [&](const char* file) {
    return std::stoi(program::attribute_of(read_file(folder / file), "height"));
  };
  CHECK(height("b.svg") == 380);
  CHECK(height("a.svg") > 400);
}
