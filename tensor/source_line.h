#pragma once

#include <source_location>
#include <string>

/// Source lines in messages, and which of them are the user's.
namespace heed {

/// Where a call was written: `SourceLocation line = SourceLocation::current()` as the last parameter is the
/// line of the caller.
using SourceLocation = std::source_location;

/// "at file:line", for messages.
std::string at(SourceLocation line);

/// Whether a line is known and in none of heed's folders, wherever they were when the library was built and
/// are for the program.
bool is_user_code(SourceLocation line);

namespace detail {

/// Where the program that uses heed found this header. Not const, and in every object that includes it: the
/// linker takes the program's for the library too.
[[gnu::used]] inline constinit const char* header_path = SourceLocation::current().file_name();

/// A line of this header.
inline SourceLocation library_line() { return SourceLocation::current(); }

}  // namespace detail
}  // namespace heed
