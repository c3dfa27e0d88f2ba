#pragma once

#include <string>

// CMakeLists.txt reads the version here.
#define HEED_VERSION_MAJOR 0  ///< Changes without a way back.
#define HEED_VERSION_MINOR 1  ///< New parts; before 1.0 they may change what was there.
#define HEED_VERSION_PATCH 0  ///< Mended parts.
#define HEED_VERSION "0.1.0"  ///< All three.

/// What runs here.
namespace heed {

/// "heed 0.1.0, x86-64-v4, OpenBLAS 0.3.21 openmp SkylakeX, 2 threads": for --version and reports.
std::string version_text();

}  // namespace heed
