// Checks that programs do what README's tables promise, and that its translation matches it.

#include <regex>

#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace {

// A command of a program, and what the last cells of its rows promise.
struct Shown {
  std::string command;
  Texts phrases, files;  // printed phrases, plotted files
};

// Each once, in the order of the rows: some commands read what earlier ones wrote.
std::vector<Shown> commands_of(const std::string& readme) {
  static const std::regex row(R"(^\|.*\| `([^`]+)`:?([^|]*)\|$)"), phrase("\"([^\"]+)\""),
      file("`(out/[^`]+)`");
  std::vector<Shown> all;
  for (const std::string& line : lines_of(readme)) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    const std::string command = found[1], rest = found[2], program = command.substr(0, command.find(' '));
    if (!std::filesystem::exists(std::string(HEED_BINARY_DIR) + "/examples/" + program)) continue;
    if (command == "guide") continue;  // tests/examples/guide/guide_test.cpp runs it, which takes long
    auto shown = std::ranges::find(all, command, &Shown::command);
    if (shown == all.end()) shown = all.insert(shown, {command, {}, {}});
    for (std::sregex_iterator it(rest.begin(), rest.end(), phrase), end; it != end; ++it)
      shown->phrases.push_back((*it)[1]);
    for (std::sregex_iterator it(rest.begin(), rest.end(), file), end; it != end; ++it)
      shown->files.push_back((*it)[1]);
  }
  return all;
}

// The parts of a text that a translation keeps, in order: code in backquotes and numbers.
std::string kept_of(const std::string& text) {
  static const std::regex kept(R"(`[^`]+`|\d+(\.\d+)*)");
  std::string all;
  for (std::sregex_iterator it(text.begin(), text.end(), kept), end; it != end; ++it) all += " " + it->str();
  return all;
}

// What a text and its translation share, piece by piece: levels of headings, fenced blocks in full, numbers
// of cells in rows, paragraphs and items, each with kept_of() of it. The link to the other language is left
// out.
Texts readme_skeleton(const std::string& markdown) {
  static const std::regex other_language(R"(\[[^\]]+\]\(README[.a-z]*\.md\))"), heading("(#+) .*"),
      item(R"(\s*(-|\d+\.) (.*))");
  Texts pieces;
  std::string kind, text;  // of the piece that the next line may continue, or ""
  const auto finish = [&] {
    if (!kind.empty()) pieces.push_back(kind + kept_of(text));
    kind = text = "";
  };
  bool fenced = false;
  for (const std::string& line : lines_of(markdown)) {
    std::smatch found;
    if (line.starts_with("```")) {
      finish();
      if (!fenced) pieces.emplace_back();
      fenced = !fenced;
      pieces.back() += line + "\n";
    } else if (fenced) {
      pieces.back() += line + "\n";
    } else if (line.empty() || std::regex_match(line, other_language)) {
      finish();
    } else if (std::regex_match(line, found, heading)) {
      finish();
      pieces.push_back(found[1].str() + kept_of(line));
    } else if (line.starts_with('|')) {
      finish();
      pieces.push_back(std::to_string(std::count(line.begin(), line.end(), '|') - 1) + " cells" +
                       kept_of(line));
    } else {
      const bool begins = std::regex_match(line, found, item);
      if (begins) finish();
      if (kind.empty()) kind = begins ? found[1].str() : "paragraph";
      text += (begins ? found[2].str() : line) + "\n";
    }
  }
  finish();
  return pieces;
}

// The first piece that differs.
Findings check_in_step(const std::string& english, const std::string& translated) {
  Texts one = readme_skeleton(english), other = readme_skeleton(translated);
  const size_t pieces = std::max(one.size(), other.size());
  one.resize(pieces, "nothing");
  other.resize(pieces, "nothing");
  const auto [here, there] = std::mismatch(one.begin(), one.end(), other.begin());
  if (here == one.end()) return {};
  return {"after " + (here == one.begin() ? "the start" : *(here - 1)) + ": " + *here + " became " + *there};
}

// Rows | PyTorch | heed | that README and the guide share by their first cell must have the same second cell.
Findings check_same_rows(const std::string& readme, const std::string& guide) {
  static const std::regex row(R"(^(\| .* \| )(.* \|)$)");
  Findings findings;
  for (const std::string& line : lines_of(readme)) {
    std::smatch found;
    if (!std::regex_match(line, found, row) || guide.find("\n" + found[1].str()) == std::string::npos)
      continue;
    if (guide.find("\n" + line) == std::string::npos) findings.push_back("the guide differs: " + line);
  }
  return findings;
}

const std::string source = HEED_SOURCE_DIR;

}  // namespace

TEST_CASE("README: the Chinese version matches the English one, and mismatches are detected") {
  require_none(check_in_step(read_file(source + "/README.md"), read_file(source + "/README.zh.md")));
  const std::string english =
      "# a\n\n[中文](README.zh.md)\n\nUse `a`\nand `b`.\n\n## b\n\n```sh\nrun # it\n```\n\n"
      "| c | d |\n|---|---|\n| `e` | f `g` 1.5 |\n\n- one `h`\n- two\n\n1. `i`\n2. end\n";
  CHECK(readme_skeleton(english) == Texts{"#", "paragraph `a` `b`", "##", "```sh\nrun # it\n```\n", "2 cells",
                                          "2 cells", "2 cells `e` `g` 1.5", "- `h`", "-", "1. `i`", "2."});
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = english;
    REQUIRE(contains(other, from));
    return check_in_step(english, other.replace(other.find(from), from.size(), to));
  };
  CHECK(changed("[中文](README.zh.md)", "[English](README.md)") == Findings{});
  CHECK(changed("Use `a`\nand", "先 `a` 后") == Findings{});
  CHECK(changed("## b", "### b") == Findings{"after paragraph `a` `b`: ## became ###"});
  CHECK(changed("`a`\nand `b`", "`b` and `a`") ==
        Findings{"after #: paragraph `a` `b` became paragraph `b` `a`"});
  CHECK(changed("# it", "# them").size() == 1);
  CHECK(changed("c | d", "c").size() == 1);
  CHECK(changed("`g`", "g").size() == 1);
  CHECK(changed("1.5", "2.5").size() == 1);
  CHECK(changed("one `h`", "one").size() == 1);
  CHECK(changed("- two\n", "").size() == 1);
  CHECK(changed("2. end", "3. end").size() == 1);
  CHECK(changed("2. end\n", "") == Findings{"after 1. `i`: 2. became nothing"});
}

TEST_CASE("README: its PyTorch and heed rows equal the guide's") {
  const std::string readme = read_file(source + "/README.md");
  const std::string guide = "\n| `x @ y` | `matmul(x, y)` | a note |\n";
  CHECK(check_same_rows("| `x @ y` | `matmul(x, y)` |", guide) == Findings{});
  CHECK(check_same_rows("| `x @ y` | `x * y` |", guide).size() == 1);
  CHECK(contains(readme, "| PyTorch | heed |\n|---|---|\n| `torch.tensor"));
  require_none(check_same_rows(readme, read_file(source + "/examples/guide/en/6_autograd.md")));
}

TEST_CASE("README: every command succeeds, prints and plots what its row promises" *
          doctest::test_suite("slow")) {
  const Folder folder;
  std::filesystem::create_directory_symlink(source + "/examples", folder / "examples");
  const auto all = commands_of(read_file(source + "/README.md"));
  REQUIRE(all.size() > 30);
  for (const Shown& shown : all) {
    CAPTURE(shown.command);
    const Run run =
        run_shell("cd '" + folder.path.string() + "' && '" HEED_BINARY_DIR "/examples/'" + shown.command);
    CHECK_MESSAGE(run.code == 0, run.err);
    for (const std::string& phrase : shown.phrases) {
      CAPTURE(phrase);
      CHECK(contains(run.out, phrase));
    }
    for (const std::string& file : shown.files) {
      CAPTURE(file);
      CHECK(std::filesystem::exists(folder / file));
    }
  }
}
