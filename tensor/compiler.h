#pragma once

/// @file
/// One error that says what is missing where a compiler cannot read heed. The public headers are empty then.

#if defined(_MSC_VER)
#error heed needs GCC or Clang
#elif defined(__clang__) ? __clang_major__ < 15 : __GNUC__ < 11
#error heed needs GCC 11, Clang 15, or newer
#elif __cplusplus < 202002L
#error heed needs C++20: compile with -std=c++20
#elif !defined(__cpp_exceptions)
#error heed needs exceptions: compile without -fno-exceptions
#else
#define HEED_COMPILES  ///< Defined where the compiler has what heed needs.
#endif
