#pragma once

/// @file
/// Every differentiable operation, a header for each family: names and meanings are PyTorch's. `x`, `a`, `b`
/// broadcast where there are two of them; a C++ number may stand for any of them and takes the dtype of the
/// other.

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/attention.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/in_place.h"
#include "autograd/ops/index.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/recurrent.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "tensor/create.h"
