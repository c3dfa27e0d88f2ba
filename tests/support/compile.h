#pragma once

#include <string>
#include <vector>

/// Compiles a source with these lines and returns the errors, one line each. For mistakes that must be
/// compile errors with a helpful message.
std::vector<std::string> compile_errors(const std::string& source, const std::string& options = "-std=c++20");
