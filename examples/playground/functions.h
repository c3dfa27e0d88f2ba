#pragma once

#include <span>
#include <string>
#include <vector>

/// All functions of the playground.
namespace program {

/// A function that the page calls: numbers in, numbers out. Its header says what they are.
struct Function {
  const char* name;
  std::vector<float> (*run)(std::span<const float> request);
  /// The request that the page begins with, and that tests compare with the native program.
  std::vector<float> (*first_request)();
};

/// All of them, in the order in which names() of wasm/boundary.cpp lists them.
const std::vector<Function>& functions();

/// The one of this name. Throws for another name.
const Function& function_of(const std::string& name);

}  // namespace program
