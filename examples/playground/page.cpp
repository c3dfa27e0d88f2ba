#include "examples/playground/page.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "examples/playground/functions.h"
#include "examples/shared/base64.h"
#include "nn/files/text_file.h"
#include "nn/view/markup.h"
#include "tensor/error.h"

namespace program {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using heed::check, heed::read_bytes;

namespace {

// In the order in which they run. Benches appear on the page in this order.
constexpr const char* kScripts[] = {"wasm",       "worker",      "draw",
                                    "controls",   "bench",       "regression",
                                    "training",   "programs",    "translators_program",
                                    "token_sets", "token_sums",  "plane",
                                    "tokens",     "translators", "tape",
                                    "length",     "model"};
constexpr const char* kScriptOfPage = "page";  // of the page of all benches, after the others

std::string scripts_of(const fs::path& folder) {
  for (const auto& file : fs::directory_iterator(folder))
    if (const std::string name = file.path().stem().string();
        file.path().extension() == ".js" && name != kScriptOfPage)
      check(std::ranges::find(kScripts, name) != std::end(kScripts), file.path().string(),
            ": is in no order with the others; add it to kScripts in page.cpp");
  std::string joined;
  for (const std::string name : kScripts)
    if (const fs::path file = folder / (name + ".js"); fs::exists(file)) joined += read_bytes(file.string());
  return joined;
}

std::string strings_of(const fs::path& folder) {
  Json strings;
  for (const std::string language : {"en", "zh"}) {
    const std::string path = (folder / ("strings." + language + ".json")).string();
    strings[language] = Json::parse(read_bytes(path), nullptr, false);
    check(!strings[language].is_discarded(), path, ": is not JSON");
  }
  return strings.dump();
}

// Numbers of 32 bits have few digits.
using FloatJson =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, int64_t, uint64_t, float>;

// The answers are what the page shows where WebAssembly cannot run.
std::string first_requests() {
  FloatJson requests;
  for (const Function& function : functions()) {
    const std::vector<float> request = function.first_request();
    requests[function.name] = {{"request", request}, {"answer", function.run(request)}};
  }
  return requests.dump();
}

}  // namespace

std::string benches_script(const std::string& folder, const std::string& wasm, const std::string& record) {
  using heed::detail::script_json;
  const std::string given =
      heed::detail::text("{\nstrings: ", script_json(strings_of(folder)), ",\ndefaults: ", first_requests(),
                         ",\nrecord: ", script_json(record), ",\nwasm: \"", base64(wasm), "\"\n}");
  return "'use strict';\nconst given = " + given + ";\n" + scripts_of(folder);
}

std::string benches_style(const std::string& folder) {
  return "heed-bench.live {\n" + read_bytes(folder + "/bench.css") + "}\n";
}

std::string playground_page(const std::string& folder, const std::string& wasm, const std::string& record) {
  const auto text = [&](const char* name) { return read_bytes(folder + "/" + name); };
  const std::string look = read_bytes(HEED_SOURCE_DIR "/nn/view/look.css");
  return heed::detail::filled(text("page.html"),
                              {{"css", look + text("page.css") + benches_style(folder)},
                               {"js", benches_script(folder, wasm, record) + text("page.js")}});
}

bool has_playground_wasm() { return fs::exists(HEED_WASM_FILE ".gz"); }

std::string playground_wasm() {
  check(has_playground_wasm(),
        "the page needs heed compiled for WebAssembly; install the compiler (.ci/setup.sh wasm) and build "
        "again");
  return read_bytes(HEED_WASM_FILE ".gz");
}

}  // namespace program
