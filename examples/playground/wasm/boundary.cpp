// The functions of the playground as JavaScript calls them; page/wasm.js is the other side. A call writes its
// request into the memory at request(), and reads its answer from the memory at answer().
//
// A throw ends the instance, and JavaScript makes a new one: see cmake/wasm/runtime.cpp.

#include <string>
#include <vector>

#include "examples/playground/functions.h"

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
