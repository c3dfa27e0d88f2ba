#pragma once

#include <doctest/doctest.h>

#include "tests/support/browser.h"
#include "tests/support/program.h"

/// Whether each bench of a page is there, in JavaScript.
inline constexpr const char* kBenchesAreDrawn =
    "[...document.querySelectorAll('heed-bench')].every(({bench}) => bench?.isDrawn)";

/// The path of the playground's page; empty where it cannot be made or opened, which the test's output says.
/// The program, which trains the translators, runs once.
inline std::string playground_page() {
  if (!has_browser()) return "";
  if (!std::filesystem::exists(HEED_BINARY_DIR "/examples/playground.wasm")) {
    MESSAGE("skipped: there is no playground.wasm (.ci/setup.sh wasm)");
    return "";
  }
  static const Folder folder;
  static const Run run = run_program("playground", "--out '" + folder.path.string() + "'");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  return folder / "index.html";
}
