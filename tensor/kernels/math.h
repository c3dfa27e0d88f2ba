#pragma once

#include <cmath>

/// Functions of one number, written so that loops over them become vector code.
namespace heed::math {

using std::exp, std::tanh, std::erf, std::log, std::log1p, std::expm1;

}  // namespace heed::math
