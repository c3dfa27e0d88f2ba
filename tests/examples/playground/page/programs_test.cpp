// The programs behind "As C++" compile.

#include <set>

#include "tests/support/compile.h"
#include "tests/support/reader.h"

namespace {

// Situations whose programs differ.
const char* const kSituations[] = {
    "lang=en",
    "lang=zh&regression.kernel=1&regression.own=1&plane.score=0&plane.width=512&plane.normalizer=1"
    "&tokens.heads=2&tokens.positions=1&tape.text=x+%3D+3;+a+%3D+x+*+x;+b+%3D+2+*+a;+y+%3D+a+*+b",
    "lang=en&plane.score=2&plane.width=8&plane.normalizer=2&tokens.set=worked"
    "&tape.text=q+%3D+1;+k+%3D+[0,+1,+2];+v+%3D+[2,+4,+1];+a+%3D+softmax(q+*+k);+y+%3D+sum(a+*+v)",
    "lang=en&plane.score=3&plane.normalizer=3&tokens.set=machines&tape.text=y+%3D+sum((x+%2B+b)^2)",
    "lang=en&plane.score=4&tokens.set=dream&tokens.positions=1"};

// A program as part of another: its includes apart, the rest in a namespace.
void add(const std::string& program, const std::string& name, std::string& includes, std::string& rest) {
  rest += "namespace " + name + " {\n";
  for (const std::string& line : lines_of(program))
    if (line.starts_with("#include"))
      includes += line + "\n";
    else
      rest += line + "\n";
  rest += "}\n";
}

}  // namespace

TEST_CASE("page programs: the C++ programs of the benches compile in all their forms" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  std::set<std::string> programs;
  for (const char* situation : kSituations) {
    reader.open(situation);
    const Json all =
        reader.tab.evaluate("[...document.querySelectorAll('heed-bench')].map(({bench}) => bench.program())");
    for (const Json& program : all) programs.insert(program.get<std::string>());
  }
  CHECK(programs.size() >= 20);
  std::string includes, rest;
  int number = 0;
  for (const std::string& program : programs)
    add(program, "program_" + std::to_string(++number), includes, rest);
  CHECK(compile_errors(includes + rest) == Texts{});
  CHECK(reader.tab.console() == "");
}
