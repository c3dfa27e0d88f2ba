#include "examples/shared/training.h"

#include "tests/support/results.h"

const std::string kShort = "--steps 40 --batch 8 --checkpoint-every 10 --out ";

static Run translate(const std::string& arguments, const std::string& before = "") {
  return run_program("translate", arguments, before);
}

// The lines of a log without measured times.
static Texts log_of(const std::string& folder) {
  Texts lines;
  for (const std::string& line : lines_of(read_file(folder + "/log.jsonl"))) {
    nlohmann::json values = nlohmann::json::parse(line);
    CHECK(values.erase("tokens_per_second") == 1);
    lines.push_back(values.dump());
  }
  return lines;
}

static void check_same(const std::string& a, const std::string& b) {
  for (const char* file : {"/checkpoints/step-00000040.safetensors", "/checkpoints/best.safetensors",
                           "/translate.safetensors", "/by_length.csv"})
    CHECK_MESSAGE(read_file(a + file) == read_file(b + file), file);
  CHECK(log_of(a) == log_of(b));
}

TEST_CASE("Trainings: a resumed training has the same weights, optimizer and log on any number of threads") {
  const Folder folder;
  CHECK(translate(kShort + folder / "whole").code == 0);
  CHECK(log_of(folder / "whole").size() == 40);

  const std::string at = kShort + folder / "pieces";
  const Run first = translate(at + " --stop-after 17 --threads 2");
  CHECK(first.code == 0);
  CHECK(contains(first.err, "stopped after step 17; " + folder / "pieces" +
                                "/checkpoints/step-00000017.safetensors contains its complete state, and "
                                "--resume continues"));
  CHECK(contains(translate(at + " --stop-after 21 --resume").out, "resuming after step 17\n"));
  const Run behind = translate(at + " --stop-after 21 --resume");
  CHECK(behind.code == 2);
  CHECK(contains(behind.err, "--stop-after 21: the checkpoint is after step 21; give a later step"));
  CHECK(translate(at + " --resume --threads 2").code == 0);
  check_same(folder / "whole", folder / "pieces");
  // A finished training can be run again with the same results.
  CHECK(translate(at + " --resume").code == 0);
  check_same(folder / "whole", folder / "pieces");
}

TEST_CASE("Trainings: a killed training resumes from the newest checkpoint and cuts the log there") {
  const Folder folder;
  CHECK(translate(kShort + folder / "whole").code == 0);
  const std::string at = folder / "killed";
  CHECK(translate(kShort + at + " --stop-after 20").code == 0);
  std::string log = read_file(at + "/log.jsonl");
  for (const char* behind : {"{\"step\":21,\"loss\":1.0,\"tokens_per_second\":1}\n", "{\"step\":22,\"lo"})
    log += behind;
  folder.write("killed/log.jsonl", log);
  CHECK(translate(kShort + at + " --resume").code == 0);
  check_same(folder / "whole", at);
}

TEST_CASE("Trainings: SIGINT and SIGTERM end it after a step with a checkpoint and codes 130 and 143") {
  const Folder folder;
  for (const auto& [signal, code] : std::vector<std::pair<std::string, int>>{{"INT", 130}, {"TERM", 143}}) {
    const std::string at = folder / signal;
    // Without env, SIGINT would be ignored, as for every program that a shell starts in the background.
    const Run run =
        run_shell("{ env --default-signal=INT " HEED_BINARY_DIR "/examples/translate --steps 100000 --out " +
                  at + " & pid=$!; until [ -s " + at + "/log.jsonl ]; do sleep 0.05; done; kill -" + signal +
                  " $pid; wait $pid; }");
    CHECK(run.code == code);
    CHECK(contains(run.err, " by SIG" + signal + "; " + at + "/checkpoints/step-"));
    const Run more = translate("--steps 100000 --resume --stop-after 100001 --lr 1 --out " + at);
    CHECK(more.code == 2);
    CHECK(contains(more.err, "--lr        0.003    1"));
  }
}

TEST_CASE("Trainings: --resume needs the same options and data, and --out") {
  const Folder folder;
  const std::string at = folder / "a";
  CHECK(translate("--steps 2 --batch 4 --checkpoint-every 1 --out " + at).code == 0);
  const Run other = translate("--steps 3 --batch 4 --seed 2 --model rnn --resume --out " + at);
  CHECK(other.code == 2);
  for (const char* part : {"does not fit this training; nothing was changed", "--seed ", "--model ",
                           "--steps ", "pairs to learn from"})
    CHECK(contains(other.err, part));
  CHECK(contains(refusal_of("translate", "--checkpoint-every -1 --out " + at), "numbers of steps"));
  CHECK(contains(refusal_of("scores", "--steps 1 --resume"), "give --out"));
  CHECK(contains(translate("--steps 2 --batch 4 --resume --out " + folder / "new").out,
                 "there is no checkpoint yet"));
}

TEST_CASE("Trainings: each of several trainings in one program resumes at its own step") {
  const Folder folder;
  const std::string options = "--part recall --steps 6 --reach 8 --checkpoint-every 2 --out ";
  const auto results = [&](const std::string& more) { return results_of("complexity", options + more); };
  const auto whole = results(folder / "whole");
  for (const char* stop : {"4", "5"})
    CHECK(run_program("complexity", options + folder / "a" + " --resume --stop-after " + stop).code == 0);
  CHECK(results(folder / "a" + " --resume") == whole);
  CHECK(results(folder / "a" + " --resume") == whole);
  CHECK(read_file(folder / "a/checkpoints/gru-8/step-00000006.safetensors") ==
        read_file(folder / "whole/checkpoints/gru-8/step-00000006.safetensors"));
  const auto log = heed::read_log(folder / "a/log.jsonl");
  CHECK(log.size() == 3);
  for (const heed::LossCurve& curve : log) CHECK(curve.steps.size() == 6);
}

TEST_CASE("fingerprint: depends on the texts and their boundaries") {
  CHECK(program::fingerprint({"ab", "c"}) == program::fingerprint({"ab", "c"}));
  CHECK(program::fingerprint({"ab", "c"}) != program::fingerprint({"a", "bc"}));
  CHECK(program::fingerprint({}) == "cbf29ce484222325");
}

TEST_CASE("steps_in: the number of steps that fit into a time") {
  using Clock = std::chrono::steady_clock;
  int64_t trials = 0;
  heed::manual_seed(5);
  const int64_t steps = program::steps_in(0.5, [&] {
    heed::default_generator().uniform();
    const auto until = Clock::now() + std::chrono::milliseconds(1);
    while (Clock::now() < until) continue;
    ++trials;
  });
  CHECK(trials <= 11);  // a fiftieth of the time, plus the first
  CHECK(steps > 9);
  CHECK(steps <= 450);  // 0.9 of 500, or fewer on a busy machine
  CHECK(program::steps_in(1e-9, [] {}) == 1);
  CHECK(heed::default_generator().position() == 0);  // a trial has no side effects
}

TEST_CASE("Plan: invalid plans throw") {
  program::Plan::check(1, 0, "--epochs", 3);
  program::Plan::check(1e-9, 2.5, "--epochs", 0);
  CHECK_ERROR(program::Plan::check(0, 1, "--epochs", 0), "--lr is 0; it must be above 0, and at most 1");
  CHECK_ERROR(program::Plan::check(1, -1, "--epochs", 0), "--minutes is -1; it must be from 0 to 100000");
  CHECK_ERROR(program::Plan::check(1, 0, "--epochs", -1), "--epochs is -1; it must be from 0 to 1000000000");
  CHECK_ERROR(program::Plan::check(1, 1, "--epochs", 1),
              "--epochs and --minutes plan the same; give one of them");
}

TEST_CASE("warm_and_fall: rises for some steps, then falls to 0") {
  CHECK(program::warm_and_fall(0, 100, 10) == doctest::Approx(0.1));
  CHECK(program::warm_and_fall(4, 100, 10) == doctest::Approx(0.5));
  CHECK(program::warm_and_fall(20, 100, 10) == doctest::Approx(0.8));
  CHECK(program::warm_and_fall(100, 100, 10) == 0);
  CHECK(program::warm_and_fall(101, 100, 10) == 0);
  CHECK(program::warm_and_fall(0, 0, 1) == 1);
}

#ifdef HEED_MPI
TEST_CASE("Trainings: the same files on one process and on two" * doctest::test_suite("slow")) {
  const Folder folder;
  const std::string mpirun =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 300 mpirun -np 2 --oversubscribe "
      "--bind-to none --mca btl_vader_single_copy_mechanism none ";
  const std::string shards = " --shards 4 --threads 1 --seed 3 --out ";
  const auto run = [&](const std::string& name, const std::string& arguments, bool shared, bool resumes) {
    const std::string at = folder / (name + (shared ? "/two" : "/one"));
    if (resumes) {
      const Run begun = run_program(name, arguments + shards + at + " --stop-after 5");
      CHECK_MESSAGE(begun.code == 0, begun.err);
    }
    const Run done =
        run_program(name, arguments + shards + at + (resumes ? " --resume" : ""), shared ? mpirun : "");
    CHECK_MESSAGE(done.code == 0, done.err);
    return done;
  };
  for (const auto& [name, arguments] : std::vector<std::pair<std::string, std::string>>{
           {"translate", "--model transformer --steps 20 --batch 18 --checkpoint-every 10"},
           {"g2p", "train --words 300 --width 32 --epochs 2 --test-words 20 --dropout 0.2"},
           {"language_model",
            "train --width 16 --layers 1 --heads 2 --context 32 --vocabulary 300 --length 20 "
            "--steps 20 --dropout 0.1"}}) {
    run(name, arguments, false, false);
    const Run two = run(name, arguments, true, name != "g2p");
    const std::string model = "/" + name + ".safetensors";
    CHECK(read_file(folder / (name + "/two" + model)) == read_file(folder / (name + "/one" + model)));
    CHECK(lines_of(two.err).size() < 5);  // process 0 alone speaks
  }
  const Run compared = translate("--compare --steps 2 --out " + folder / "compared", mpirun);
  CHECK(compared.code == 2);
  CHECK(contains(compared.err, "start it without mpirun"));
}
#endif
