#pragma once

/// @file
/// The operations that most layers are made of. autograd/ops.h has all.

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/elementary.h"
#include "autograd/ops/index.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "tensor/create.h"
