#pragma once

#include <cstdint>
#include <functional>
#include <string>

/// Makes a program of operations (elementwise, views, reductions, products, in place, between dtypes) by what
/// `choose` answers, any numbers, and runs it twice: by heed and by a plain interpreter. Says what differs,
/// "" if nothing. A smooth program has a derivative everywhere and writes nothing in place; of it the
/// gradient of one element of each leaf is compared too, that at `place`, counted around.
std::string wrong_program(const std::function<uint64_t()>& choose, bool smooth, size_t place);
