#pragma once

/// @file
/// What an operation outside the library is written with, to be as fast as those inside: loops over elements
/// (map, zip, apply, update), sums and extremes along dimensions, and functions of a number that become
/// vector code.

#include "tensor/compiler.h"
#ifdef HEED_COMPILES

#include "tensor/kernels/map.h"
#include "tensor/kernels/math.h"
#include "tensor/kernels/reduce.h"

#endif
