#pragma once

#include <cstdint>
#include <functional>
#include <string>

/// Generates a program of operations (elementwise, views, reductions, products, in place, between dtypes)
/// from the numbers that `choose` returns. Runs it with heed and with a plain interpreter and returns a
/// description of the first difference, or "". A smooth program is differentiable everywhere and writes
/// nothing in place; for it, the gradient of one element of each leaf is compared too: element `place` modulo
/// their number.
std::string wrong_program(const std::function<uint64_t()>& choose, bool smooth, size_t place);
