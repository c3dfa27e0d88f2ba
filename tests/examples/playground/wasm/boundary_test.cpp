// Runs playground.wasm under node, through page/wasm.js as the page does.

#include "tests/support/results.h"

namespace {

const std::string wasm_file = HEED_BINARY_DIR "/examples/playground.wasm";

bool has_node_and_wasm() {
  if (run_shell("command -v node").code != 0)
    MESSAGE("skipped: node is not installed (.ci/setup.sh ci)");
  else if (!std::filesystem::exists(wasm_file))
    MESSAGE("skipped: there is no playground.wasm (.ci/setup.sh wasm)");
  else
    return true;
  return false;
}

// What a script prints that has `heed`, as the page does.
std::string printed_by(const std::string& script) {
  const Folder folder;
  const std::string file =
      folder.write("run.js", "const heed = require('" HEED_SOURCE_DIR
                             "/examples/playground/page/wasm.js')(require('fs').readFileSync('" +
                                 wasm_file + "'));\n" + script);
  const Run run = run_shell("node '" + file + "'");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  return run.out;
}

// The largest difference of an answer to the native one, relative to max(1, |x|).
double difference_of(const Json& answer, const Json& native) {
  return largest_difference(answer.get<Values>(), native.get<Values>(), Difference::relative);
}

}  // namespace

TEST_CASE("wasm: the first requests of all functions have the native answers") {
  if (!has_node_and_wasm()) return;
  const Json native = results_of("playground", "");
  const Folder folder;
  const std::string requests = folder.write("native.json", native.dump());
  const Json answers = Json::parse(printed_by(
      "const native = JSON.parse(require('fs').readFileSync('" + requests +
      "')), answers = {};\n"
      "for (const name of heed.names) answers[name] = [...heed.call(name, native[name].request)];\n"
      "console.log(JSON.stringify(answers));"));
  CHECK(answers.size() == native.size());
  for (const auto& [name, one] : native.items()) {
    CAPTURE(name);
    CHECK(difference_of(answers[name], one["answer"]) <= 1e-6);
  }
}

TEST_CASE("wasm: a throw hands its message to JavaScript, and the next call works") {
  if (!has_node_and_wasm()) return;
  const std::string printed = printed_by(R"(
    const request = [1, 0, 0, 0.5, 1, 2, 0, 1, 0, 1], first = heed.call('regression_learn', request);
    for (let i = 0; i < 20; ++i) try { heed.call('regression', [1]); } catch (error) { console.log(error.message); }
    console.log(heed.call('regression_learn', request).join() === first.join());)");
  CHECK(contains(printed, "regression: the request ends before kernel\n"));
  CHECK(printed.ends_with("true\n"));
}

TEST_CASE("wasm: the module imports little, and memory stays the same in a thousand calls") {
  if (!has_node_and_wasm()) return;
  const std::string printed =
      printed_by("const bytes = require('fs').readFileSync('" + wasm_file +
                 "'), request = [1, 0, 0, 0.5, 1, 2, 0, 1, 0, 1];\n"
                 "const imports = WebAssembly.Module.imports(new WebAssembly.Module(bytes));\n"
                 "console.log(bytes.length < 1.6e6, imports.length < 10);\n"
                 "const Memory = WebAssembly.Instance;\n"
                 "let last; WebAssembly.Instance = class extends Memory { constructor(...a) { super(...a); "
                 "last = this; } };\n"
                 "const fresh = require('" HEED_SOURCE_DIR
                 "/examples/playground/page/wasm.js')(bytes);\n"
                 "const size = () => last.exports.memory.buffer.byteLength;\n"
                 "for (let i = 0; i < 10; ++i) fresh.call('regression_learn', request);\n"
                 "const before = size();\n"
                 "for (let i = 0; i < 1000; ++i) fresh.call('regression_learn', request);\n"
                 "console.log(size() === before, before < 16e6);");
  CHECK(printed == "true true\ntrue true\n");
}
