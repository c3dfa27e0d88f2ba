#pragma once

/// The whole library: #include <heed.h>.

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/gradcheck.h"
#include "autograd/ops.h"
#include "nn/module.h"
#include "nn/optim/adagrad.h"
#include "nn/optim/adam.h"
#include "nn/optim/clip.h"
#include "nn/optim/rmsprop.h"
#include "nn/optim/schedule.h"
#include "nn/optim/sgd.h"
#include "nn/parameter.h"
#include "tensor/create.h"
#include "tensor/index.h"
#include "tensor/memory.h"
#include "tensor/parallel.h"
#include "tensor/random.h"
#include "tensor/tensor.h"
#include "tensor/version.h"
