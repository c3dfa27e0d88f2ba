// Checks that programs do what the tables of README, docs/ and examples/ promise, that links and quoted code
// are right, and that README's translation matches it.

#include <map>
#include <regex>
#include <set>

#include "tensor/table.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace fs = std::filesystem;

namespace {

// A command of a program, and what the last cells of its rows promise.
struct Shown {
  std::string command;
  Texts phrases, files;  // printed phrases, plotted files
};

// Each once, in the order of the rows: some commands read what earlier ones wrote.
std::vector<Shown> commands_of(const std::string& documents) {
  static const std::regex row(R"(^\|.*\| `([^`]+)`:?([^|]*)\|$)"), phrase("\"([^\"]+)\""),
      file("`(out/[^`]+)`");
  std::vector<Shown> all;
  for (const std::string& line : lines_of(documents)) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    const std::string command = found[1], rest = found[2], program = command.substr(0, command.find(' '));
    if (!std::filesystem::exists(std::string(HEED_BINARY_DIR) + "/examples/" + program)) continue;
    if (command == "guide" || command == "playground") continue;  // their own tests open what they write
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

// Rows | PyTorch | heed | ... that a document and the guide share by their first cell must have the same
// second cell.
Findings check_same_rows(const std::string& document, const std::string& guide) {
  static const std::regex row(R"(^(\| [^|]+ \| )([^|]+ \|).*$)");
  Findings findings;
  for (const std::string& line : lines_of(document)) {
    std::smatch found;
    if (std::regex_match(line, found, row) && contains(guide, "\n" + found[1].str()) &&
        !contains(guide, "\n" + found[1].str() + found[2].str()))
      findings.push_back("the guide differs: " + line);
  }
  return findings;
}

// The Markdown files of a tree but the guide's chapters, whose links are to runs.
std::vector<fs::path> documents(const fs::path& root) {
  std::vector<fs::path> found;
  for (auto file = fs::recursive_directory_iterator(root); file != fs::recursive_directory_iterator();
       ++file) {
    const std::string name = file->path().filename();
    if (name == "build" || name == "out" || name == "guide" || name.starts_with('.'))
      file.disable_recursion_pending();
    else if (file->path().extension() == ".md")
      found.push_back(fs::relative(file->path(), root));
  }
  std::ranges::sort(found);
  return found;
}

// A Markdown text as the text outside of fences, and its fences with what stands behind the backquotes.
struct Parts {
  std::string prose;
  std::vector<std::pair<std::string, std::string>> fences;
};
Parts parts_of(const std::string& markdown) {
  Parts parts;
  bool fenced = false;
  for (const std::string& line : lines_of(markdown)) {
    if (line.starts_with("```")) {
      fenced = !fenced;
      if (fenced) parts.fences.emplace_back(line.substr(3), "");
    } else {
      (fenced ? parts.fences.back().second : parts.prose) += line + "\n";
    }
  }
  return parts;
}

// The anchors of headings: "## A layer" is #a-layer.
std::set<std::string> anchors_of(const std::string& markdown) {
  std::set<std::string> anchors;
  for (const std::string& line : lines_of(parts_of(markdown).prose)) {
    if (!line.starts_with('#')) continue;
    std::string anchor;
    for (const char c : line.substr(line.find(' ') + 1)) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte > 127 || std::isalnum(byte) || c == '-' || c == '_' || c == ' ')
        anchor += c == ' ' ? '-' : static_cast<char>(std::tolower(byte));
    }
    anchors.insert(anchor);
  }
  return anchors;
}

// Links and pictures lead to files that exist, and to headings in them.
Findings check_links(const fs::path& root) {
  static const std::regex code("`[^`]*`"), link(R"re((?:\]\(|src=")([^)"#]*)#?([^)"]*)[)"])re");
  Findings findings;
  for (const fs::path& document : documents(root)) {
    const std::string prose = std::regex_replace(parts_of(read_file(root / document)).prose, code, "");
    for (std::sregex_iterator it(prose.begin(), prose.end(), link), end; it != end; ++it) {
      const std::string to = (*it)[1], anchor = (*it)[2];
      if (contains(to, "://")) continue;
      const fs::path file = to.empty() ? root / document : (root / document).parent_path() / to;
      if (!fs::exists(file))
        findings.push_back(document.string() + ": no file " + to);
      else if (!anchor.empty() && !anchors_of(read_file(file)).contains(anchor))
        findings.push_back(document.string() + ": no heading #" + anchor + " in " + file.filename().string());
    }
  }
  return findings;
}

// Whether tests/consumers/readme/ builds the programs of a document, or of the one that it translates.
bool is_built(const fs::path& document) {
  return document == "README.md" || document == "README.zh.md" || document.parent_path() == "docs" ||
         document == "examples/guide/en/8_autograd.md" || document == "examples/guide/zh/8_autograd.md";
}

// C++ in documents is a program that is built, or is quoted from one or from `sources`.
Findings check_quotations(const std::map<fs::path, std::string>& markdown, std::string sources) {
  static const std::regex program(R"(// [a-z_]+\.cpp\n)");
  Texts quotations;
  for (const auto& [document, text] : markdown)
    for (const auto& [info, code] : parts_of(text).fences) {
      const bool named = info.starts_with("cpp ") ||
                         std::regex_search(code, program, std::regex_constants::match_continuous);
      if (named && is_built(document))
        sources += code;
      else if (named || info == "cpp" || contains(code, "int main("))
        quotations.push_back(code);
    }
  std::erase_if(quotations, [&](const std::string& code) { return contains(sources, code); });
  return quotations;
}

const fs::path source = HEED_SOURCE_DIR;

}  // namespace

TEST_CASE("README: the Chinese version matches the English one, and mismatches are detected") {
  require_none(check_in_step(read_file(source / "README.md"), read_file(source / "README.zh.md")));
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

TEST_CASE("README: one screen after the other, not more than 180 lines of 120 columns") {
  const Texts lines = lines_of(read_file(source / "README.md"));
  CHECK(lines.size() <= 180);
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(display_width(line) <= 120);
  }
}

TEST_CASE("from PyTorch: the rows equal the guide's") {
  const std::string guide = "\n| `x @ y` | `matmul(x, y)` | a note |\n";
  CHECK(check_same_rows("| `x @ y` | `matmul(x, y)` | another |", guide) == Findings{});
  CHECK(check_same_rows("| `x @ y` | `x * y` | a note |", guide).size() == 1);
  require_none(check_same_rows(read_file(source / "docs/from-pytorch.md"),
                               read_file(source / "examples/guide/en/8_autograd.md")));
}

TEST_CASE("documents: links lead somewhere, also to headings") {
  require_none(check_links(source));
  const Folder folder;
  fs::create_directory(folder.path / "docs");
  folder.write("docs/b.md", "# Two words, `code`\n```\n# no heading\n```\n");
  const auto links = [&](const std::string& text) {
    folder.write("a.md", text);
    return check_links(folder.path);
  };
  CHECK(links("# A\n[here](#a) [there](docs/b.md#two-words-code) [far](https://a.b/c) `[x](y)`\n") ==
        Findings{});
  CHECK(links("[there](docs/c.md)\n") == Findings{"a.md: no file docs/c.md"});
  CHECK(links("<img src=\"c.svg\">\n") == Findings{"a.md: no file c.svg"});
  CHECK(links("[there](docs/b.md#no-heading)\n") == Findings{"a.md: no heading #no-heading in b.md"});
}

TEST_CASE("documents: C++ is a whole program, or quoted") {
  std::map<fs::path, std::string> texts;
  for (const fs::path& document : documents(source)) texts[document] = read_file(source / document);
  for (const char* language : {"en", "zh"})
    for (const fs::path& chapter : documents(source / "examples/guide" / language)) {
      const fs::path document = fs::path("examples/guide") / language / chapter;
      texts[document] = read_file(source / document);
    }
  REQUIRE(texts.contains("examples/guide/en/8_autograd.md"));
  std::string sources;
  for (const char* folder : {"tensor", "autograd", "nn", "examples"})
    for (const auto& file : fs::recursive_directory_iterator(source / folder))
      if (file.path().extension() == ".cpp" || file.path().extension() == ".h")
        sources += read_file(file.path());
  require_none(check_quotations(texts, sources));

  const std::string program = "```cpp\n// a.cpp\nint a;\nint b;\n```\n";
  const auto quotations = [](const char* document, const std::string& text) {
    return check_quotations({{document, text}}, "int c;\n");
  };
  CHECK(quotations("docs/a.md", program + "```cpp\nint b;\n```\n```cpp\nint c;\n```\n") == Findings{});
  CHECK(quotations("docs/a.md", program + "```cpp\nint d;\n```\n") == Findings{"int d;\n"});
  // A program that nothing builds.
  CHECK(quotations("nn/README.md", program) == Findings{"// a.cpp\nint a;\nint b;\n"});
  CHECK(quotations("docs/a.md", "```c++\nint main() {}\n```\n") == Findings{"int main() {}\n"});
}

TEST_CASE("documents: every command succeeds, prints and plots what its row promises" *
          doctest::test_suite("slow")) {
  const Folder folder;
  fs::create_directory_symlink(source / "examples", folder.path / "examples");
  std::string text =
      read_file(source / "README.md");  // first: later commands use what its commands have trained
  for (const fs::path& document : documents(source))
    if (document != "README.md" && document != "README.zh.md") text += read_file(source / document);
  const auto all = commands_of(text);
  REQUIRE(all.size() > 40);
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
      CHECK(fs::exists(folder / file));
    }
  }
}
