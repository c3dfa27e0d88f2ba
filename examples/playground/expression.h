#pragma once

#include <heed.h>

#include <map>
#include <string>
#include <vector>

#include "nn/view/tape.h"

/// Formulas that a reader types, computed by heed.
namespace program {

/// What a formula has computed.
struct Computed {
  std::vector<std::string> leaves;            ///< names of the leaves, in the order of the text
  std::map<std::string, heed::Tensor> named;  ///< the leaves and the results with a name
  heed::Tensor result;                        ///< of the last statement, one number
};

/// Computes statements such as
///
///   x = [1, 2, 3]; y = sum(tanh(w * x + b))
///
/// They are separated by semicolons or line breaks. Numbers are constants, and names that were not assigned
/// before are leaves, which need a gradient. An assigned number or list makes a leaf, too. Operators: + - * /
/// ^ and parentheses; functions: see expression_functions(). A value is a number [] or a list of numbers [n],
/// float64.
///
///   given    values of leaves; they replace those in the text. Other leaves get numbers from a fixed list.
///   tape     records the names of leaves and results; may be null
///
/// Errors, with the position in the text, counted from 1: a character or a word at a wrong place, an unknown
/// function, lists of different lengths, a last result that is not one number.
Computed compute(const std::string& text, const std::map<std::string, heed::Tensor>& given,
                 heed::Tape* tape = nullptr);

/// tanh, exp, log, ...: functions of one argument.
std::vector<std::string> expression_functions();

}  // namespace program
