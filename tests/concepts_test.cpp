// Every concept of tests/data/concepts.txt has a test, which cites it in the line above, and a command in
// docs/concepts.md. The checks take texts as arguments, so that they can be tested with planted faults.
#include <fnmatch.h>

#include <regex>
#include <set>

#include "tests/support/program.h"

#include "nn/text/vocabulary.h"
#include "tests/support/expect.h"

namespace fs = std::filesystem;

namespace {

using Concepts = std::set<std::string>;
using Files = std::map<std::string, std::string>;  // texts by path

const fs::path root = HEED_SOURCE_DIR;
const std::string mark = std::string("//") + " covers:";

Concepts ids_in(const std::string& text) {
  static const std::regex pattern(R"(C-\d{3}-\d{2})");
  Concepts ids;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    ids.insert(match->str());
  return ids;
}

Concepts concepts() {
  Concepts ids;
  for (const std::string& line : lines_of(read_file(root / "tests/data/concepts.txt")))
    ids.insert(line.substr(0, line.find(' ')));
  return ids;
}

Files tests() {
  Files texts;
  for (const auto& entry : fs::recursive_directory_iterator(root / "tests"))
    if (entry.path().extension() == ".cpp") texts[entry.path().string()] = read_file(entry.path());
  return texts;
}

// Each id is cited directly above a test case, and only existing ids are cited.
Findings check_citations(const Files& texts, const Concepts& concepts) {
  static const std::regex citation(R"(^\s*)" + mark + R"(( C-\d{3}-\d{2})+$)"),
      test_case(R"(^\s*TEST_CASE\()");
  Findings findings;
  Concepts cited;
  for (const auto& [path, text] : texts) {
    const auto lines = lines_of(text);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find(mark) == std::string::npos) continue;
      const std::string where = path + ":" + std::to_string(i + 1) + ": ";
      if (!std::regex_search(lines[i], citation))
        findings.push_back(where + "a citation must contain only ids");
      if (i + 1 == lines.size() || !std::regex_search(lines[i + 1], test_case))
        findings.push_back(where + "the next line is not a test case");
      for (const std::string& id : ids_in(lines[i])) {
        cited.insert(id);
        if (!concepts.contains(id)) findings.push_back(where + "there is no concept " + id);
      }
    }
  }
  for (const std::string& id : concepts)
    if (!cited.contains(id)) findings.push_back(id + ": no test covers it");
  return findings;
}

// Whether each pattern of doctest's -tc="a*b,c" matches a test case.
bool finds(const std::string& filter, const Files& tests) {
  static const std::string start = "TEST_CASE(\"";
  const auto found = [&](const std::string& name) {
    for (const auto& [path, text] : tests)
      for (size_t at = text.find(start); at != text.npos; at = text.find(start, at + 1)) {
        const size_t begin = at + start.size();
        const std::string test = text.substr(begin, text.find('"', begin) - begin);
        if (fnmatch(name.c_str(), test.c_str(), 0) == 0) return true;
      }
    return false;
  };
  std::string names = filter;
  std::replace(names.begin(), names.end(), ',', '\n');
  return std::ranges::all_of(lines_of(names), found);
}

// Rows | ids | what | `file`: `name` | `command` |: each id has exactly one, the file contains the name, and
// the command's program or test case exists.
Findings check_table(const std::string& document, const Concepts& concepts, const Files& tests) {
  static const std::regex row(
      R"re(^\| (C-[^|]*) \| [^|]+ \| `([^`]+)`: `([^`]+)` \| `(?:\./)?(\S+)(?: -tc="([^"]*)")?[^`]*`.*\|$)re");
  std::set<std::string> programs;
  for (const auto& entry : fs::recursive_directory_iterator(root / "examples"))
    if (const fs::path& file = entry.path();
        file.extension() == ".cpp" && !fs::exists(fs::path(file).replace_extension(".h")))
      programs.insert(file.stem().string());
  Findings findings;
  Concepts shown;
  for (const std::string& line : lines_of(document)) {
    if (!line.starts_with("| C-")) continue;
    std::smatch match;
    if (!std::regex_match(line, match, row)) {
      findings.push_back("not a row of id, what, code and command: " + line);
      continue;
    }
    const std::string file = match[2], name = match[3], program = match[4], filter = match[5];
    if (!fs::exists(root / file) || read_file(root / file).find(name) == std::string::npos)
      findings.push_back(line.substr(2, 8) + ": there is no " + name + " in " + file);
    if (!finds(filter, tests)) findings.push_back(line.substr(2, 8) + ": there is no test " + filter);
    if (program != "tests/run.sh" && !programs.contains(program))
      findings.push_back(line.substr(2, 8) + ": there is no program " + program);
    for (const std::string& id : ids_in(match[1])) {
      if (!shown.insert(id).second) findings.push_back(id + ": has two rows");
      if (!concepts.contains(id)) findings.push_back(id + ": there is no such concept");
    }
  }
  for (const std::string& id : concepts)
    if (!shown.contains(id)) findings.push_back(id + ": docs/concepts.md shows no command");
  return findings;
}

}  // namespace

TEST_CASE("every concept has a test and a command in docs/concepts.md") {
  CHECK(concepts().size() == 53);
  require_none(check_citations(tests(), concepts()));
  require_none(check_table(read_file(root / "docs/concepts.md"), concepts(), tests()));
}

// covers: C-000-01
TEST_CASE("every signature of attention names its parameters query, key, value") {
  for (const auto& [file, function] :
       Files{{"autograd/ops/attention.h", "blocked_attention"},
             {"nn/attention/scaled_dot_product.h", "scaled_dot_product_attention"},
             {"nn/attention/pooling.h", "forward"},
             {"nn/attention/multi_head.h", "forward"},
             {"nn/attention/kernel_regression.h", "forward"}}) {
    INFO(file);
    const std::string type = R"((?:const (?:Tensor|CachedKeys)&|Operand)\s+)";
    const std::regex signature(R"(\b)" + function + R"(\()" + type + R"((?:query|queries),\s*)" + type +
                               R"(keys?,\s*)" + type + R"(values?\b)");
    CHECK(std::regex_search(read_file(root / file), signature));
  }
}

TEST_CASE("faults in citations and in the table are detected") {
  const Concepts two = {"C-000-01", "C-000-02"};
  const std::string one = "  " + mark + " C-000-01\n  TEST_CASE(\"a\") {}\n";
  const std::string other = mark + " C-000-02\n";
  const auto citations = [&](const std::string& text) { return check_citations({{"a.cpp", text}}, two); };
  CHECK(citations(one + other + "TEST_CASE(\"b\") {}\n") == Findings{});
  CHECK(citations(one) == Findings{"C-000-02: no test covers it"});
  CHECK(citations(one + other) == Findings{"a.cpp:3: the next line is not a test case"});
  CHECK(citations(one + other + "\nTEST_CASE(\"b\") {}\n") ==
        Findings{"a.cpp:3: the next line is not a test case"});
  CHECK(citations(one + mark + " C-000-02 C-000-03\nTEST_CASE(\"b\")\n") ==
        Findings{"a.cpp:3: there is no concept C-000-03"});
  CHECK(citations(one + mark + " C-000-02, loosely\nTEST_CASE(\"b\")\n") ==
        Findings{"a.cpp:3: a citation must contain only ids"});

  const std::string code = " `nn/attention/score.cpp`: `DotScore` | ";
  const std::string first = "| C-000-01 | a |" + code + "`kernel_regression --seed 1` |\n";
  const auto table = [&](const std::string& text) {
    return check_table(text, two, {{"a.cpp", "TEST_CASE(\"a b\") {}"}});
  };
  const std::string run = "| C-000-02 | b |" + code + "`./tests/run.sh -tc=";
  CHECK(table(first + run + "\"*b,a*b\"` |\n") == Findings{});
  CHECK(table(first + run + "\"*b,c*\"` |\n") == Findings{"C-000-02: there is no test *b,c*"});
  CHECK(table(first) == Findings{"C-000-02: docs/concepts.md shows no command"});
  CHECK(table("| C-000-01 C-000-02 | a |" + code + "`regression` |\n") ==
        Findings{"C-000-01: there is no program regression"});
  CHECK(table(first + "| C-000-02 | b | |\n") ==
        Findings{"not a row of id, what, code and command: | C-000-02 | b | |",
                 "C-000-02: docs/concepts.md shows no command"});
  for (const char* wrong : {"`nn/attention/score.cpp`: `DotProduct`", "`nn/score.cpp`: `DotScore`"})
    CHECK(table(first + "| C-000-02 | b | " + wrong + " | `scores` |\n").size() == 1);
  CHECK(table("| C-000-01 C-000-02 C-000-03 | a |" + code + "`scores` |\n") ==
        Findings{"C-000-03: there is no such concept"});
}
