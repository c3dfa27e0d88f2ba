#pragma once

/// @file
/// Training on several processes.

#include "tensor/compiler.h"
#ifdef HEED_COMPILES

#include "nn/distributed/processes.h"

#endif
