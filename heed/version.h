#pragma once

/// @file
/// HEED_VERSION, HEED_VERSION_MAJOR and so on; version_text().

#if __cplusplus < 202002L
#error heed needs C++20: compile with -std=c++20
#else

#include "tensor/version.h"

#endif
