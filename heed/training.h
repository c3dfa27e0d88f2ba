#pragma once

/// @file
/// The loop of a training: progress, log, checkpoints, early stopping.

#include "tensor/compiler.h"
#ifdef HEED_COMPILES

#include "nn/training/batches.h"
#include "nn/training/evaluation.h"
#include "nn/training/log.h"
#include "nn/training/metrics.h"
#include "nn/training/progress.h"
#include "nn/training/training.h"

#endif
