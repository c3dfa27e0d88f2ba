#pragma once

#include <set>
#include <string>

/// Formulas of pages: pandoc's MathML so that browsers draw it as TeX would.
namespace program {

/// Corrects the formulas of a page. Words in \mathrm become upright words instead of products of italic
/// letters, brackets around what is no higher than a letter keep the height of a letter, names of functions
/// get the spaces of TeX, and no line breaks between a formula and the mark that follows it.
std::string with_tidy_formulas(const std::string& html);

/// The code points that the formulas of a page are drawn with, such as mathematical italic letters.
std::set<uint32_t> formula_characters(const std::string& html);

/// A font for formulas as a CSS rule.
struct MathFont {
  std::string css;      // "" if it could not be made
  std::string missing;  // what to install then
};
/// Makes a font of these characters, with the sizes and positions that formulas need (its MATH table), as a
/// rule for the font family "Guide Math" that loads nothing. `folder` is for temporary files.
MathFont math_font(const std::string& folder, const std::set<uint32_t>& characters);

}  // namespace program
