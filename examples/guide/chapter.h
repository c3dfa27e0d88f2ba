#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

/// Chapters of the guide: Markdown with gaps that sources and runs of the programs fill, so that no number,
/// no line of code and no picture of a run is made by hand.
///
///     # 3. Scores and self-attention                              the first line of a chapter
///     ## C-002-05 Dot score                                       a section about a concept
///     ## The same on real data                                    a section without one
///
///     ```{.code file="nn/attention/score.cpp" from="Tensor DotScore::operator()" lines="6"}
///     ```
///     ```{.run command="scores --score dot" from="score" lines="6"}
///     ```
///     ![the loss of each score](loss.svg "scores")                a picture, or a page to explore:
///     graph.html
///     ![queries look for keys](query_key_value.svg "diagram")     a drawing of diagrams.h
///     ```{.bench name="regression" state="own=1"}                 a bench of the playground
///     ```
///     The learned width is `=kernel_regression: learned.w`.
///     See [the mean](#C-000-05) and [more](9_other_ways.md).      a section of any chapter, and a chapter
///
/// Code is the declaration, function or statement that begins in the only line with `from`, with the comment
/// above it, or its first `lines`. Output begins at the first line with `from` and is `lines` long, to its
/// end without them; below it the page says how long the command takes. A bench begins in the state that the
/// fragment of the playground's address would give it, or as there without one. A section without a concept
/// has the id s-3 if its heading is the third of the chapter, so it is the same in both languages.
namespace program {

/// The chapters in a folder by name, in order. Files that begin with the same number are one chapter with the
/// name of the first: 1b_learned_width.md goes on where 1_kernel_regression.md ends. Throws if there is none.
std::map<std::string, std::string> chapters_in(const std::filesystem::path& folder);

/// A piece of a chapter.
struct Piece {
  enum Kind { text, heading, formula, code, run, picture, number, bench } kind;
  int64_t line;         // of the chapter, from 1
  std::string raw;      // as it is in the chapter
  std::string name;     // of code and pictures the file, of numbers the path in the results, of headings the
                        // concept's id, of benches the name
  std::string command;  // of runs, pictures and numbers: the program and its options
  std::string from;     // of code and runs: where it begins; of benches: the state in which it begins
  int64_t lines = 0;    // of code and runs, how many; 0: to the end
  std::string caption;  // of pictures
};

/// The command of pictures that no program draws.
constexpr const char* kDiagram = "diagram";

/// Splits a chapter into pieces; joined, their raw texts are the chapter. Throws, with the line, for a gap
/// that is not written as above.
std::vector<Piece> pieces_of(const std::string& chapter);

/// What the languages of a chapter must have in common, piece by piece: ids, formulas, and what fills the
/// gaps.
std::vector<std::string> skeleton_of(const std::string& chapter);

/// What fills gaps. Each function throws if there is no such thing.
struct Filling {
  std::function<std::string(const std::string& file)> source;
  std::function<std::string(const std::string& command)> printed;
  std::function<std::string(const std::string& printed)> shown;  // the same lines in the language of the page
  std::function<std::string(const std::string& command)> duration;                          // in words
  std::function<std::string(const std::string& command, const std::string& path)> number;   // in its results
  std::function<std::string(const std::string& command, const std::string& file)> picture;  // its path
  // its element as HTML, beneath the concept `at`
  std::function<std::string(const std::string& name, const std::string& at, const std::string& state)> bench;
};

/// The chapter as Markdown without gaps. Errors name the line of the chapter.
std::string filled(const std::string& chapter, const Filling& filling);

}  // namespace program
