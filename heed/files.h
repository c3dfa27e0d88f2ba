#pragma once

/// @file
/// Tensors in files: safetensors, .npy, CSV, checkpoints. Text files.

#include "tensor/compiler.h"
#ifdef HEED_COMPILES

#include "nn/files/checkpoint.h"
#include "nn/files/csv.h"
#include "nn/files/file.h"
#include "nn/files/npy.h"
#include "nn/files/safetensors.h"
#include "nn/files/text_file.h"

#endif
