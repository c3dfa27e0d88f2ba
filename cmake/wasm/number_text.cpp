// Numbers with a given count of digits, as std::to_chars writes them. The C++ library has 100 KB of tables to
// do it fast; printf gives the same digits. These functions take the place of its object file d2fixed.cpp.o.

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace {

std::to_chars_result print(char* first, char* last, const char* format, double value, uint32_t digits) {
  char text[1400];  // a double has at most 309 digits before the point and 1074 behind it
  const int size = std::snprintf(text, sizeof text, format, static_cast<int>(digits), value);
  if (last - first < size) return {last, std::errc::value_too_large};
  std::memcpy(first, text, static_cast<size_t>(size));
  return {first + size, std::errc()};
}

// The last `count` decimal digits.
void print_digits(uint32_t number, uint32_t count, char* to) {
  for (; count > 0; number /= 10) to[--count] = static_cast<char>('0' + number % 10);
}

}  // namespace

_LIBCPP_BEGIN_NAMESPACE_STD

to_chars_result __d2fixed_buffered_n(char* first, char* last, double value, uint32_t digits) {
  return print(first, last, "%.*f", value, digits);
}
to_chars_result __d2exp_buffered_n(char* first, char* last, double value, uint32_t digits) {
  return print(first, last, "%.*e", value, digits);
}
void __append_n_digits(uint32_t count, uint32_t number, char* to) { print_digits(number, count, to); }
void __append_nine_digits(uint32_t number, char* to) { print_digits(number, 9, to); }

_LIBCPP_END_NAMESPACE_STD
