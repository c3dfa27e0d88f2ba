#include "examples/guide/chapter.h"

#include <set>

#include "examples/guide/excerpt.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace program;
namespace fs = std::filesystem;

const char* const kChapter = R"(# 1. A chapter

The width is `=kernel_regression: learned.w`, `code` stays.

## C-000-14 A learned width

$$ f(x) = \sum_i \alpha_i y_i $$

```{.code file="a.cpp" from="int f("}
```

```{.code file="a.cpp" from="int f(" lines="2"}
```

```{.run command="kernel_regression --csv a.csv" from="learned" lines="2"}
```

![what is learned](fits.svg "kernel_regression")

![step by step](graph.html "kernel_regression")

![queries](query_key_value.svg "diagram")

```{.bench name="regression" state="own=1"}
```

## Without a concept, see C-000-05

The [mean](#C-000-05), C-000-06（C-000-07），`C-000-08`.

```cpp
int x = 1;  // `=not: filled`
```
)";

static Filling filling() {
  return {[](const std::string&) { return "int g();\n\n// Twice x.\nint f(int x) {\n  return 2 * x;\n}\n"; },
          [](const std::string&) { return "mean 1\nlearned 2\nfixed 3\nother 4\n"; },
          [](const std::string& printed) { return "# " + printed; },
          [](const std::string&) { return "2 s"; },
          [](const std::string& command, const std::string& path) { return command + "/" + path; },
          [](const std::string& command, const std::string& file) { return command + "/" + file; },
          [](const std::string& name, const std::string& at, const std::string& state) {
            heed::check(name == "regression", "there is no bench ", name);
            return "<heed-bench>" + name + " at " + at + " with " + state + "</heed-bench>\n";
          }};
}

static std::map<std::string, std::string> chapters(const std::string& language) {
  return program::chapters_in(fs::path(HEED_SOURCE_DIR) / "examples" / "guide" / language);
}

// The section of each concept: from its heading to the next of the same or a higher level.
static std::map<std::string, std::vector<Piece>> sections(const std::string& language) {
  std::map<std::string, std::vector<Piece>> all;
  for (const auto& [name, chapter] : chapters(language)) {
    std::string id;
    for (const Piece& piece : pieces_of(chapter)) {
      if (piece.kind == Piece::heading && !piece.raw.starts_with("###")) id = piece.name;
      if (!id.empty()) all[id].push_back(piece);
    }
  }
  return all;
}

TEST_CASE("chapters: files that begin with the same number are one chapter, in order") {
  const Folder folder;
  folder.write("1_first.md", "# 1\n");
  folder.write("1b_more.md", "## more\n");
  folder.write("0_start.md", "# 0\n");
  folder.write("notes.txt", "not a chapter");
  using Chapters = std::map<std::string, std::string>;
  CHECK(chapters_in(folder.path) == Chapters{{"0_start", "# 0\n"}, {"1_first", "# 1\n\n## more\n"}});
  const Folder empty;
  CHECK_THROWS_WITH_AS(chapters_in(empty.path), doctest::Contains("there are no chapters"), heed::Error);
}

TEST_CASE("chapter: its pieces joined are the chapter") {
  std::string whole;
  std::vector<Piece::Kind> kinds;
  for (const Piece& piece : pieces_of(kChapter)) {
    whole += piece.raw;
    if (piece.kind != Piece::text) kinds.push_back(piece.kind);
  }
  CHECK(whole == kChapter);
  CHECK(kinds == std::vector<Piece::Kind>{Piece::heading, Piece::number, Piece::heading, Piece::formula,
                                          Piece::code, Piece::code, Piece::run, Piece::picture,
                                          Piece::picture, Piece::picture, Piece::bench, Piece::heading});
}

TEST_CASE("chapter: code, output, numbers and figures are inserted") {
  const std::string text = filled(kChapter, filling());
  for (const char* part :
       {"The width is kernel_regression/learned.w, `code` stays.", "# 1. A chapter {#top}\n",
        "## A learned width [C-000-14]{.concept} {#C-000-14}\n",
        "`a.cpp:3`\n:::\n\n```cpp\n// Twice x.\nint f(int x) {\n  return 2 * x;\n}\n```\n",
        "```cpp\n// Twice x.\nint f(int x) {\n  // …\n```\n",
        "run.sh kernel_regression --csv a.csv` [2 s]{.duration}\n:::\n\n```text\nlearned 2\nfixed 3\n```\n",
        "![what is learned](kernel_regression/fits.svg)\n",
        "\n![step by step](kernel_regression/graph.html)\n", "![queries](diagram/query_key_value.svg)\n",
        "```{=html}\n<heed-bench>regression at C-000-14 with own=1</heed-bench>\n```\n",
        "## Without a concept, see C-000-05 {#s-3}\n",
        "The [mean](#C-000-05), [C-000-06](#C-000-06)（[C-000-07](#C-000-07)），`C-000-08`.\n",
        "int x = 1;  // `=not: filled`\n"})
    CHECK(contains(text, part));
}

TEST_CASE("chapter: errors name the line") {
  const auto fails = [](const std::string& chapter, const std::string& finding) {
    CHECK_ERROR_HAS(filled(chapter, filling()), finding);
  };
  fails("\n```{.code file=\"a.cpp\" from=\"int h(\"}\n```\n", "line 2: no line contains \"int h(\"");
  fails("```{.code file=\"a.cpp\" from=\"int \"}\n```\n", "line 1: more than one line contains");
  fails("```{.run command=\"a\" from=\"nothing\"}\n```\n", "line 1: a prints no line with \"nothing\"");
  fails("```{.run command=\"a\" lines=\"0\"}\n```\n", "lines=\"0\" must be a number above 0");
  fails("```{.run from=\"a\"}\n```\n", "a run needs command");
  fails("```{.code from=\"a\"}\n```\n", "code needs file");
  fails("```{.other}\n```\n", "is none of {.code");
  fails("## C-000-14 A\n```{.bench name=\"regresion\"}\n```\n", "line 2: there is no bench regresion");
  fails("## C-000-14 A\n```{.bench state=\"w=1\"}\n```\n", "line 2: a bench needs name");
  fails("## A\n\n```{.bench name=\"regression\"}\n```\n",
        "line 3: a bench stands in the section of a concept");
  fails("```{.run command=\"a\"}\ntyped by hand\n```\n", "line 2: a block that is filled must be empty");
  fails("text\n```cpp\nint x;\n", "line 2: ``` does not end");
}

TEST_CASE("guide: both languages have the same concepts, formulas, code, commands, numbers and figures") {
  const auto english = chapters("en"), chinese = chapters("zh");
  REQUIRE(english.size() == chinese.size());
  for (const auto& [name, chapter] : english) {
    CAPTURE(name);
    REQUIRE(chinese.contains(name));
    const auto ours = skeleton_of(chapter), theirs = skeleton_of(chinese.at(name));
    for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) CHECK(ours[i] == theirs[i]);
    CHECK(ours.size() == theirs.size());
  }
}

TEST_CASE("guide: every concept has a section with a formula or code; most have a change and an exercise") {
  std::set<std::string> concepts;
  for (const std::string& line :
       ::lines_of(read_file(std::string(HEED_SOURCE_DIR) + "/tests/data/concepts.txt")))
    concepts.insert(line.substr(0, line.find(' ')));
  for (const auto& [language, change] :
       std::map<std::string, const char*>{{"en", "**Change and see.**"}, {"zh", "**改一改，看一看。**"}}) {
    const auto all = sections(language);
    int64_t changes = 0, exercises = 0;
    for (const std::string& id : concepts) {
      INFO(id, " in ", language);
      REQUIRE(all.contains(id));
      std::set<Piece::Kind> kinds;
      for (const Piece& piece : all.at(id)) {
        kinds.insert(piece.kind);
        changes += contains(piece.raw, change);
        exercises += contains(piece.raw, "<details><summary>");
      }
      CHECK((kinds.contains(Piece::formula) || kinds.contains(Piece::code)));
    }
    CHECK(changes >= 40);
    CHECK(exercises >= 40);
  }
}

TEST_CASE("guide: the quoted code exists") {
  for (const auto& [name, chapter] : chapters("en"))
    for (const Piece& piece : pieces_of(chapter)) {
      if (piece.kind != Piece::code) continue;
      INFO(name, ":", piece.line);
      const Excerpt part =
          program::excerpt(read_file(std::string(HEED_SOURCE_DIR) + "/" + piece.name), piece.from);
      CHECK((piece.lines > 0 || part.lines.size() <= 40));
    }
}
