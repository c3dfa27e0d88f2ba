// The functions of the playground as JavaScript calls them; page/wasm.js is the other side. A call writes its
// request into the memory at request(), and reads its answer from the memory at answer().
//
// A throw ends the instance: Debian's runtime cannot catch. The message goes to JavaScript, which makes a new
// instance.

#include <exception>
#include <new>
#include <string>
#include <typeinfo>
#include <vector>

#include "examples/playground/functions.h"
#include "tensor/error.h"

namespace {

std::vector<float> request_numbers, answer_numbers;

}  // namespace

#define HEED_EXPORT(name) extern "C" [[clang::export_name(#name)]]

/// The names of all functions, with spaces between them.
HEED_EXPORT(names) const char* exported_names() {
  static const std::string names = [] {
    std::string joined;
    for (const program::Function& function : program::functions())
      joined += (joined.empty() ? "" : " ") + std::string(function.name);
    return joined;
  }();
  return names.c_str();
}

/// Where the request goes, `count` numbers.
HEED_EXPORT(request) float* exported_request(int count) {
  request_numbers.resize(static_cast<size_t>(count));
  return request_numbers.data();
}

/// Calls the function with this place in names().
HEED_EXPORT(call) void exported_call(int index) {
  answer_numbers = program::functions()[static_cast<size_t>(index)].run(request_numbers);
}

HEED_EXPORT(answer) const float* exported_answer() { return answer_numbers.data(); }
HEED_EXPORT(answer_count) int exported_answer_count() { return static_cast<int>(answer_numbers.size()); }

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
