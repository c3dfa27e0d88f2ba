#pragma once

#include <string>
#include <vector>

/// The errors, a line each, that the compiler finds in a source file with these lines. For mistakes that are
/// to be refused before a program runs, in words that its author understands.
std::vector<std::string> compile_errors(const std::string& source);
