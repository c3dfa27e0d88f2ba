// The test cases of heed_tests.wasm for tests/wasm/run.js, which makes an instance for each, and what takes
// the place of a system.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "tests/support/compile.h"
#include "tests/support/program.h"

namespace {

// Those of no suite: the slow ones and those with several threads are left out.
std::vector<const doctest::detail::TestCase*> test_cases() {
  std::vector<const doctest::detail::TestCase*> cases;
  for (const auto& one : doctest::detail::getRegisteredTests())
    if (std::string(one.m_test_suite).empty()) cases.push_back(&one);
  return cases;
}

}  // namespace

#define HEED_EXPORT(name) extern "C" [[clang::export_name(#name)]]

/// The names of all test cases, one a line.
HEED_EXPORT(names) const char* exported_names() {
  static std::string names;
  for (const auto* one : test_cases()) names += std::string(one->m_name) + "\n";
  return names.c_str();
}

/// Runs the test case with this place in names(); returns whether it passed.
HEED_EXPORT(run) bool exported_run(int index) {
  const auto* wanted = test_cases()[static_cast<size_t>(index)];
  std::erase_if(doctest::detail::getRegisteredTests(), [&](const auto& one) { return &one != wanted; });
  doctest::Context context;
  context.setOption("minimal", true);
  return context.run() == 0;
}

// There are no files, no shell and no compiler.
Run run_shell(const std::string&) { return {127, "", ""}; }
Folder::Folder() = default;
Folder::~Folder() = default;
std::string Folder::write(const std::string& file, const std::string&) const { return file; }
std::string read_file(const std::string&) { return ""; }
std::vector<std::string> compile_errors(const std::string&, const std::string&) { return {}; }
