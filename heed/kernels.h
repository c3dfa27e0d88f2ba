#pragma once

/// @file
/// What an operation outside the library is written with, to be as fast as those inside: loops over elements
/// (map, zip, apply, update), sums and extremes along dimensions, and functions of a number that become
/// vector code.

#if __cplusplus < 202002L
#error heed needs C++20: compile with -std=c++20
#else

#include "tensor/kernels/map.h"
#include "tensor/kernels/math.h"
#include "tensor/kernels/reduce.h"

#endif
