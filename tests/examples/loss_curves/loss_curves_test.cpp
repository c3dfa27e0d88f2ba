#include "tests/support/results.h"

TEST_CASE("loss_curves: several logs in one figure and one table") {
  const Folder folder;
  folder.write("x", "");
  std::filesystem::create_directories(folder / "one");
  std::string log;
  for (int step = 1; step <= 20; ++step)
    log += "{\"step\":" + std::to_string(step) + ",\"loss\":" + std::to_string(21 - step) +
           (step % 5 == 0 ? ",\"validation\":" + std::to_string(std::abs(step - 10) + 2) : "") + "}\n";
  const std::string one = folder.write("one/log.jsonl", log);
  const std::string two = folder.write("two.jsonl", "{\"run\":\"rnn\",\"step\":3,\"loss\":0.5}\n");
  const auto results = results_of("loss_curves", one + " " + two + " --out " + folder / "out")["trainings"];
  CHECK(results[0]["name"] == "one");
  CHECK(results[0]["steps"] == 20);
  CHECK(results[0]["loss"] == 1.5);
  CHECK(results[0]["validation"] == 2);
  CHECK(results[1]["name"] == "two, rnn");
  CHECK(!results[1].contains("validation"));
  const std::string picture = read_file(folder / "out/loss.svg");
  for (const char* name : {"one", "one, validation", "two, rnn"})
    CHECK(contains(picture, std::string(">") + name + "<"));
}

TEST_CASE("loss_curves: invalid, missing and empty files") {
  const Folder folder;
  CHECK(contains(refusal_of("loss_curves", ""), "give the files to draw"));
  CHECK(
      contains(refusal_of("loss_curves", folder.write("a", "no\n")), "a:1: is not a line of a training log"));
  CHECK(contains(refusal_of("loss_curves", folder.write("b", "")), "there is no step in"));
  CHECK(run_program("loss_curves", "--version").code == 0);
}
