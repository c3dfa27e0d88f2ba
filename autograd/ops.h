#pragma once

/// @file
/// All differentiable operations, one header for each family; basic.h includes the most used. Names and
/// meanings are PyTorch's. Operands `a` and `b` broadcast; either may be a C++ number, which takes the dtype
/// of the other.

#include "autograd/ops/activation.h"
#include "autograd/ops/attention.h"
#include "autograd/ops/basic.h"
#include "autograd/ops/conv.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/in_place.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/moments.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/products.h"
#include "autograd/ops/recurrent.h"
#include "autograd/ops/rounding.h"
#include "autograd/ops/sampling.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/sort.h"
