// What Debian's C++ runtime for wasm32-wasi lacks or makes large. Each program for WebAssembly contains it.
//
// A throw ends the instance: nothing can catch. The message goes to JavaScript, which makes a new instance.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <typeinfo>

#include "tensor/error.h"

extern "C" {

// JavaScript throws an error with this message, so it does not return.
[[clang::import_module("heed"), clang::import_name("fail"), noreturn]] void throw_in_javascript(
    const char* message);

// What a throw expression calls.
void* __cxa_allocate_exception(size_t bytes) noexcept { return ::operator new(bytes); }
void __cxa_free_exception(void* exception) noexcept { ::operator delete(exception); }
[[noreturn]] void __cxa_throw(void* exception, std::type_info* type, void (*)(void*)) {
  const bool has_message = *type == typeid(heed::Error);
  throw_in_javascript(has_message ? static_cast<heed::Error*>(exception)->what() : type->name());
}

// The one thread does not end, so nothing is destroyed at its end.
int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }

// There is no environment.
char* getenv(const char*) { return nullptr; }

}  // extern "C"

// The shortest text that reads back as the same number. That of the C++ library has tables of 110 kB.
std::to_chars_result std::to_chars(char* first, char* last, double value) {
  char scientific[32], fixed[400];
  int digits = 0;
  do {
    snprintf(scientific, sizeof scientific, "%.*e", digits, value);
  } while (++digits < 17 && strtod(scientific, nullptr) != value);
  const char* text = scientific;
  if (isfinite(value)) {
    const int exponent = atoi(strchr(scientific, 'e') + 1);
    const int length = snprintf(fixed, sizeof fixed, "%.*f", max(0, digits - 1 - exponent), value);
    if (length <= static_cast<int>(strlen(scientific))) text = fixed;
  }
  const size_t length = strlen(text);
  if (static_cast<size_t>(last - first) < length) return {last, errc::value_too_large};
  return {copy_n(text, length, first), errc{}};
}
