#pragma once

/// @file
/// Tools that find mistakes: gradient checks, graphs, check_module, diagnose, profiles, anomaly detection.

#include "tensor/compiler.h"
#ifdef HEED_COMPILES

#include "autograd/debug/gradcheck.h"
#include "autograd/debug/graph.h"
#include "nn/debug/anomaly.h"
#include "nn/debug/check_module.h"
#include "nn/debug/diagnose.h"
#include "nn/debug/profile.h"

#endif
