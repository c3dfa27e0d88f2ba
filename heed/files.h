#pragma once

/// @file
/// Tensors in files: safetensors, .npy, checkpoints.

#if __cplusplus < 202002L
#error heed needs C++20: compile with -std=c++20
#else

#include "nn/files/checkpoint.h"
#include "nn/files/file.h"
#include "nn/files/npy.h"
#include "nn/files/safetensors.h"

#endif
