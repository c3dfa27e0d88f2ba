#pragma once

#include "examples/shared/program.h"
#include "tensor/create.h"

/// Measurements over the length T of a sequence: exponents, tables, pictures.
namespace program {

using Numbers = std::vector<double>;

/// first, 2 first, 4 first, ... up to last.
std::vector<int64_t> doubled(int64_t first, int64_t last);

/// The exponent p of y = c T^p: the slope of a line through the logarithms at the three largest lengths.
/// Throws if there are fewer than three, or if the numbers of lengths and values differ.
double exponent(const std::vector<int64_t>& lengths, const Numbers& y);
/// "T^1.98   theory T^2", with a note if they differ by more than noise.
std::string compared_with_theory(double fitted, double theory);

/// Prints a name, a column for each length, and a text after them.
void print_row(std::ostream& out, const std::string& name, const std::vector<std::string>& columns,
               const std::string& more = "");
/// The cells of such a row.
template <class Values, class Format>
std::vector<std::string> cells_of(const Values& values, const Format& format) {
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(format(static_cast<double>(value)));
  return texts;
}

/// A tensor of these values, for results.
template <class T>
heed::Tensor as_tensor(const std::vector<T>& values) {
  return heed::from_vector(values, {std::ssize(values)});
}

/// Draws one line for each name over T, on logarithmic scales, each with its theory T^exponent through its
/// last point. Without exponents the values are shares, on a linear scale. With many lines, colors repeat.
void plot_lines(Program& self, const std::string& file, const std::string& title, const std::string& y,
                const std::vector<int64_t>& lengths, const std::vector<std::string>& names,
                const std::vector<Numbers>& values, const Numbers& exponents);
/// The lines with every value multiplied by a factor.
std::vector<Numbers> scaled(std::vector<Numbers> lines, double factor);

}  // namespace program
