#include "nn/training/log.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

TEST_CASE("TrainingLog: a line per step, flushed; missing numbers are left out") {
  const Folder folder;
  const std::string path = folder / "deep/log.jsonl";
  TrainingLog log(path, "", 0, false);
  log.write(1, {.loss = 0.5, .rate = 0.1, .gradient_norm = 2, .tokens = 30}, 0.5);
  log.write(2, {.loss = 0.25, .validation = 3}, 1);
  CHECK(read_file(path) ==
        "{\"step\":1,\"loss\":0.5,\"rate\":0.1,\"gradient_norm\":2.0,\"tokens_per_second\":60.0}\n"
        "{\"step\":2,\"loss\":0.25,\"validation\":3.0}\n");
  TrainingLog().write(1, {.loss = 1}, 1);  // writes nothing
  CHECK_ERROR_HAS(TrainingLog(folder.path.string(), "", 0, false), "cannot be written");
  CHECK_ERROR_HAS(TrainingLog(folder / "other", "\xff", 0, false), "the name of the run is not UTF-8");
}

TEST_CASE("TrainingLog: resumes after the checkpoint, for its own run only") {
  const Folder folder;
  const std::string path =
      folder.write("log",
                   "{\"run\":\"a\",\"step\":1,\"loss\":1}\n{\"run\":\"b\",\"step\":9,\"loss\":2}\n"
                   "{\"run\":\"a\",\"step\":2,\"loss\":3}\n{\"run\":\"a\",\"st");
  TrainingLog(path, "a", 1, true).write(2, {.loss = 4}, 1);
  const auto curves = read_log(path);
  REQUIRE(curves.size() == 2);
  CHECK(curves[0].name == "a");
  CHECK(curves[0].steps == std::vector<int64_t>{1, 2});
  CHECK(curves[0].losses == Values{1, 4});
  CHECK(std::isnan(curves[0].validations[0]));
  CHECK(curves[1].steps == std::vector<int64_t>{9});
  TrainingLog(path, "b", 0, false);
  CHECK(read_file(path).empty());
}

TEST_CASE("TrainingLog: does not overwrite other files; reports a full disk") {
  const Folder folder;
  for (const char* text : {"a line\n", "a line without an end", "{\n  \"loss\": 1\n}\n"}) {
    const std::string path = folder.write("mine", text);
    CHECK_ERROR_HAS(TrainingLog(path, "", 0, false),
                    "mine:1: is not a line of a training log, such as {\"step\": 1");
    CHECK_ERROR_HAS(TrainingLog(path, "", 0, false),
                    "choose another file, since this one would be overwritten");
    CHECK(read_file(path) == text);
  }
  TrainingLog full("/dev/full", "", 0, true);
  CHECK_ERROR(full.write(1, {.loss = 1}, 1), "/dev/full: cannot be written: No space left on device");
}

TEST_CASE("read_log: an error names the invalid line") {
  const Folder folder;
  for (const char* line : {"x", "[]", "{}", "{\"step\":\"1\"}", "{\"step\":1,\"run\":2}", "\xff"})
    CHECK_ERROR_HAS(read_log(folder.write("log", std::string("{\"step\":1}\n") + line + "\n")),
                    "log:2: is not a line of a training log");
  CHECK_ERROR_HAS(read_log(folder / "none"), "none: cannot be read");
  CHECK(read_log(folder.write("log", "")).empty());
}
