#pragma once

/// @file
/// Models in ONNX files.

#include "tensor/compiler.h"
#ifdef HEED_COMPILES

#include "nn/onnx/export.h"
#include "nn/onnx/import.h"
#include "nn/onnx/model.h"

#endif
