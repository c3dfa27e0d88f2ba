#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/parity.h"

/// How the reference cases of modules and losses are run: a table says what to build for each `op`.
namespace heed::parity {

using Inputs = std::map<std::string, Tensor>;
using Outputs = std::vector<Tensor>;

/// A module, or none for a loss, and how to call it.
struct Subject {
  std::shared_ptr<Module> module;
  std::function<Outputs(Inputs&)> call;
};
/// Builds what a case is about from its constructor and its call arguments.
using Build = std::function<Subject(const Json& config, const Json& call)>;

/// A value of the configuration that may be missing or null.
template <class T>
std::optional<T> optional(const Json& config, const char* name) {
  const auto it = config.find(name);
  return it == config.end() || it->is_null() ? std::nullopt : std::optional<T>(it->get<T>());
}

/// Runs every case of these groups: outputs, and gradients of inputs and parameters.
void check_groups(const std::set<std::string>& groups, const std::map<std::string, Build>& builders);

}  // namespace heed::parity
