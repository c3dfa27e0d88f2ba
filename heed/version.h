#pragma once

/// @file
/// HEED_VERSION, HEED_VERSION_MAJOR and so on; version_text().

#include "tensor/compiler.h"
#ifdef HEED_COMPILES

#include "tensor/version.h"

#endif
