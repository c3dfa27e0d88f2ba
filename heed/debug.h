#pragma once

/// @file
/// Tools that find mistakes: gradient checks, graphs, check_module, diagnose, profiles, anomaly detection.

#if __cplusplus < 202002L
#error heed needs C++20: compile with -std=c++20
#else

#include "autograd/debug/gradcheck.h"
#include "autograd/debug/graph.h"
#include "nn/debug/anomaly.h"
#include "nn/debug/check_module.h"
#include "nn/debug/diagnose.h"
#include "nn/debug/profile.h"

#endif
