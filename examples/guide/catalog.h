#pragma once

#include <string>
#include <vector>

/// What programs print and draw, in the language of a page.
///
/// A catalog is a table of phrases. Each line has a phrase of the programs, a tab, and what the page says
/// instead:
///
///     leave-one-out error	留一误差
///     from {1} to {2}	从 {1} 到 {2}
///
/// {1} to {9} stand for a number or word without spaces. Of phrases that overlap, the longest is replaced. A
/// phrase is not replaced inside a word, a path, an option or the name of a variable.
namespace program {

class Catalog {
 public:
  /// A catalog that changes nothing.
  Catalog() = default;
  /// Reads the lines of a table; empty lines and lines that begin with # are comments. Throws, with the
  /// number of the line, if one has no tab or a {number} that its phrase does not have.
  explicit Catalog(const std::string& table);

  /// Replaces all phrases of a text.
  std::string text(const std::string& text) const;
  /// The same for the output of a program, line by line. Texts that are two or more spaces apart stay aligned
  /// with those of other lines: numbers are below their header.
  std::string output(const std::string& printed) const;
  /// The same for all texts of an SVG picture.
  std::string picture(const std::string& svg) const;
  /// The same for an HTML page: its texts, titles, and the strings of its JSON data.
  std::string page(const std::string& html) const;

 private:
  struct Phrase {
    std::vector<std::string> literals;  // between {1}, {2}, ...
    std::string translation;
    size_t length;  // of the literals

    size_t match(const std::string& text, size_t begin, std::vector<std::string>& words) const;
  };
  std::vector<Phrase> phrases_;  // the longest first
};

}  // namespace program
