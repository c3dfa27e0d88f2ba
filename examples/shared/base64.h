#pragma once

#include <string>

/// Files inside pages.
namespace program {

/// Any bytes as letters, digits, + and /, four for three bytes, filled up with =.
std::string base64(const std::string& bytes);

}  // namespace program
