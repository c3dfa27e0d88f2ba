#pragma once

#include <string>

#include "examples/guide/pages.h"
#include "examples/guide/stills.h"

/// The benches of the playground in chapters.
namespace program {

/// The script that makes benches of all pages run. It is a file beside them, since it has playground.wasm in
/// it, more than all pages together; browsers open it without a request over a network.
constexpr const char* kBenchesFile = "benches.js";

/// What all elements of benches in a language have in common.
struct BenchParts {
  const GuideLanguage& language;
  BenchWords words;    ///< of the language
  std::string record;  ///< a training of the translators: recorded_training()
  bool runs;           ///< whether the guide has the script of benches
};

/// The element of a bench beneath the concept `at`, in a situation (see still_of()): title, still picture and
/// table, which the script replaces, and a sentence that says how to get the bench that runs.
std::string bench_element(const std::string& name, const std::string& at, const std::string& state,
                          const BenchParts& parts);

/// The contents of kBenchesFile. Throws if playground.wasm was not built.
std::string script_of_benches(const std::string& record);

/// The style of all pages: the colors of nn/view/look.css, the font of formulas, page.css, and the style of
/// benches.
std::string style_of_pages(const std::string& font);

}  // namespace program
