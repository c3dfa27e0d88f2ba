#include "examples/guide/runs.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace program;

TEST_CASE("runs: output, results, pictures and duration of a command") {
  const Folder folder;
  const Runs::Folders folders = {HEED_SOURCE_DIR, HEED_BINARY_DIR "/examples", folder.path};
  const std::string command = "attention_by_hand --example worked";
  const Runs runs(folders, {command});
  CHECK(contains(runs.printed(command), "Q "));
  CHECK(runs.seconds(command) > 0);
  CHECK(runs.picture(command, "weights.svg") == "runs/attention_by_hand_example_worked/weights.svg");
  CHECK_ERROR_HAS(runs.picture(command, "nothing.svg"), "draws no nothing.svg");
  CHECK_ERROR_HAS(runs.number(command, "nothing"), "gives no number nothing");

  // A second call keeps the run, if asked to.
  const std::string printed = runs.printed(command);
  std::filesystem::resize_file(folder / "runs/attention_by_hand_example_worked/printed.txt", 0);
  CHECK(Runs(folders, {command}, true).printed(command) == "");
  CHECK(contains(Runs(folders, {command}).printed(command), printed.substr(0, 1000)));
}

TEST_CASE("runs: a command that fails says why") {
  const Folder folder;
  const Runs::Folders folders = {HEED_SOURCE_DIR, HEED_BINARY_DIR "/examples", folder.path};
  CHECK_ERROR_HAS(Runs(folders, {"attention_by_hand --example nothing"}), "it fails: ");
}

TEST_CASE("runs: durations are rounded") {
  CHECK(duration_text(0.4, false) == "takes under 1 s");
  CHECK(duration_text(2.2, false) == "takes 2 s");
  CHECK(duration_text(23, false) == "takes 25 s");
  CHECK(duration_text(58, false) == "takes 1 min");
  CHECK(duration_text(95, false) == "takes 1.5 min");
  CHECK(duration_text(0.4, true) == "用时不到 1 秒");
  CHECK(duration_text(12, true) == "用时 10 秒");
  CHECK(duration_text(61, true) == "用时 1 分钟");
}
