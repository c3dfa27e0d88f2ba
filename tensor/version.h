#pragma once

#include <string>

/// What runs here.
namespace heed {

/// "heed 0.1.0, OpenBLAS 0.3.21 openmp SkylakeX, 2 threads": what runs here, for --version and reports.
std::string build_info();

}  // namespace heed
