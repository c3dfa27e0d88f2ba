#pragma once

#include <functional>
#include <string>
#include <vector>

/// Chapters of the guide: Markdown with gaps that sources and runs of the programs fill, so that no number,
/// no line of code and no picture in it is typed by hand.
///
///     ```{.code file="nn/attention/score.cpp" from="DotScore::operator()"}
///     ```
///     ```{.run command="scores --score dot" from="score" lines="6"}
///     ```
///     ![the loss of each score](loss.svg "scores")
///     The learned width is `=kernel_regression: learned.w`.
namespace program {

/// A piece of a chapter, as it stands there.
struct Piece {
  enum Kind { text, heading, formula, code, run, picture, number } kind;
  int64_t line;         // of the chapter, from 1
  std::string raw;      // all pieces' put together are the chapter
  std::string name;     // of code and pictures the file, of numbers the path in the results, of headings the
                        // concept's id
  std::string command;  // of runs, pictures and numbers: the program and its options
  std::string from;     // of code and runs: where it begins
  int64_t lines = 0;    // of runs, how many; 0: to the end
  std::string caption;  // of pictures
};

/// Error, with the line, for a gap that is not written as above.
std::vector<Piece> pieces_of(const std::string& chapter);

/// What two languages of a chapter must have in common, piece by piece: ids, formulas, and what fills the
/// gaps.
std::vector<std::string> skeleton_of(const std::string& chapter);

/// What fills gaps. Each throws where there is no such thing.
struct Filling {
  std::function<std::string(const std::string& file)> source;                              // its text
  std::function<std::string(const std::string& command)> printed;                          // by a run
  std::function<std::string(const std::string& command, const std::string& path)> number;  // in its results
  std::function<std::string(const std::string& command, const std::string& file)>
      picture;  // where the page finds it
};

/// Lines of a source: those that begin in the one line which contains `from`, with the comment above it, up
/// to the end of that declaration, function or statement. `first` is the number of the first.
struct Excerpt {
  int64_t first;
  std::vector<std::string> lines;
};
Excerpt excerpt(const std::string& source, const std::string& from);

/// The chapter without gaps. An error names the line of the chapter.
std::string filled(const std::string& chapter, const Filling& filling);

}  // namespace program
