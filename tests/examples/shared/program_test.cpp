#include "examples/shared/program.h"

#include "tests/support/results.h"

static Run run_regression(const std::string& arguments, const std::string& before = "") {
  return run_program("kernel_regression", arguments, before);
}

TEST_CASE("program: --help and --version") {
  const Run help = run_regression("--help");
  CHECK(help.code == 0);
  for (const char* option : {"--seed", "--threads", "--out", "--json", "--version", "--csv", "--x", "--y"})
    CHECK(contains(help.out, option));
  const Run version = run_regression("--version --threads 3");
  CHECK(version.code == 0);
  for (const char* part : {"heed 0.", "OpenBLAS 0.", " openmp ", ", 3 threads\n"})
    CHECK(contains(version.out, part));
}

TEST_CASE("program: the default number of threads is OMP_NUM_THREADS, or every core") {
  CHECK(contains(run_regression("--version", "OMP_NUM_THREADS=5").out, ", 5 threads\n"));
  CHECK(contains(run_regression("--version", "OMP_NUM_THREADS=1").out, ", 1 thread\n"));
}

TEST_CASE("program: an invalid option exits with 2 and a message that names it") {
  for (const auto& [arguments, part] : std::vector<std::pair<std::string, std::string>>{
           {"--threads -1", "--threads"},
           {"--threads 0", "--threads"},
           {"--threads two", "--threads"},
           {"--seed -1", "a seed is a whole number"},
           {"--seed 1.5", "a seed is a whole number"},
           {"--seed 18446744073709551616", "a seed is a whole number"},
           {"--nonsense", "--nonsense"},
           {"extra", "extra"},
           {"--csv", "--csv"},
           {"--out ''", "--out"},
           {"--x a", "--csv"},
       }) {
    const std::string refusal = refusal_of("kernel_regression", arguments);
    CHECK(contains(refusal, part));
    CHECK(refusal.starts_with("kernel_regression: "));
    CHECK(lines_of(refusal).size() == 1);
  }
}

TEST_CASE("program: messages about options say what to do") {
  for (const auto& [command, said] : std::vector<std::pair<std::string, std::string>>{
           {"translate --modell rnn", "there is no option --modell; did you mean --model?"},
           {"translate --step=5", "there is no option --step; did you mean --steps?"},
           {"translate --nonsense", "there is no option --nonsense; --help lists all"},
           {"translate rnn",
            "there is no command rnn; there is export, and options begin with --, see --help"},
           {"scores dot", "dot is no option; options begin with --, and --help lists them"},
           {"translate --steps abc", "--steps is abc; it must be a whole number"},
           {"translate --steps 1.5", "--steps is 1.5; it must be a whole number"},
           {"translate --lr fast", "--lr is fast; it must be a number"},
           {"translate --threads two", "--threads is two; it must be a whole number from 1 to 1024"},
           {"translate --threads 0", "--threads is 0; it must be from 1 to 1024"},
           {"translate --text ''", "--text is empty; give a sentence"},
           {"translate --pairs ''", "--pairs is empty; give a file"},
           {"translate --out ''", "--out is empty; give a folder"},
           {"translate --model lstm", "--model is lstm; it must be one of rnn, attention, transformer"},
           {"kernel_regression --csv", "--csv needs a value"},
           {"translate --steps 1 --steps 2", "--steps is given more than once"},
       }) {
    const std::string name = command.substr(0, command.find(' '));
    CHECK(refusal_of(name, command.substr(name.size())) == name + ": " + said + "\n");
  }
}

TEST_CASE("program: a result that cannot be written exits with 2") {
  const Folder folder;
  const std::string file = folder.write("file", "");
  for (const std::string& arguments : {
           "--out " + file,
           "--out " + file + "/deeper",
           "--json " + folder / "missing/a.json",
           "--json " + folder.path.string(),
           std::string("--json /dev/full"),
       }) {
    CAPTURE(arguments);
    const Run wrong = run_regression(arguments);
    CHECK(wrong.code == 2);
    CHECK(contains(wrong.err, "cannot be written"));
  }
  for (const char* arguments : {"", "--json -", "--version", "--help"}) {
    CHECK(run_regression(std::string(arguments) + " >/dev/full 2>" + folder / "err" + "; exit $?; :").code ==
          2);
    CHECK(contains(read_file(folder / "err"), "kernel_regression: standard output cannot be written"));
  }
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("program: --json FILE writes what --json - prints") {
  const Folder folder;
  const Run to_output = run_regression("--json -"), to_file = run_regression("--json " + folder / "a.json");
  CHECK(to_output.code == 0);
  CHECK(to_file.code == 0);
  CHECK(to_output.out == read_file(folder / "a.json"));
  CHECK(to_output.err == to_file.out);
  CHECK(nlohmann::json::parse(to_output.out)["data"]["n"] == 50);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);  // no temporary file
}

TEST_CASE("program: without gnuplot the data are written and a message is printed") {
  const Folder folder;
  const Run done = run_regression("--out " + folder / "new/deep", "env PATH=/nonexistent");
  CHECK(done.code == 0);
  CHECK(contains(done.out, "gnuplot is not installed"));
  CHECK(!contains(done.out, "fits.svg\n"));
  CHECK(contains(done.out, "graph.svg\n"));  // drawn without gnuplot
  CHECK(contains(read_file(folder / "new/deep/fits.gp"), "plot 'fits_points.csv'"));
  CHECK(std::filesystem::exists(folder / "new/deep/predictions.csv"));
}

TEST_CASE("program: Ctrl-C while gnuplot draws leaves no temporary files") {
  const Folder folder;
  folder.write("gnuplot", "#!/bin/sh\ntouch \"$PWD/fits.svg.part\"; kill -INT $PPID; sleep 0.2\n");
  std::filesystem::permissions(folder / "gnuplot", std::filesystem::perms::owner_all);
  const Run stopped = run_regression("--out " + folder / "out" + "; exit $?; :",
                                     "env --default-signal=INT PATH=" + folder.path.string() + ":$PATH");
  CHECK(stopped.code == 130);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "out")) {
    const std::string name = entry.path().filename();
    CHECK_MESSAGE((!name.ends_with(".part") && !name.ends_with(".tmp.gp")), name);
  }
}

TEST_CASE("program: an ignored SIGINT stays ignored, also for gnuplot") {
  const Folder folder;
  folder.write("gnuplot", "#!/bin/sh\nkill -INT $$; kill -INT $PPID; touch survived; exit 1\n");
  std::filesystem::permissions(folder / "gnuplot", std::filesystem::perms::owner_all);
  const Run failed = run_regression("--out " + folder / "out",
                                    "env --ignore-signal=INT PATH=" + folder.path.string() + ":$PATH");
  CHECK(failed.code == 2);  // gnuplot's failure
  CHECK(std::filesystem::exists(folder / "out/survived"));
}

TEST_CASE("program: color on a terminal, not for a pipe, with NO_COLOR or on a dumb terminal") {
  CHECK(!contains(run_regression("").out, "\033"));
  if (run_shell("command -v script").code != 0) return;  // it makes a terminal
  const auto colored = [](const std::string& variables) {
    const Run run = run_shell("env -u NO_COLOR " + variables +
                              " script -qec '" HEED_BINARY_DIR "/examples/kernel_regression' /dev/null");
    CHECK(contains(run.out, "sum of weight x value"));
    return contains(run.out, "\033[34m");
  };
  CHECK(colored("TERM=xterm"));
  CHECK_FALSE(colored("TERM=dumb"));
  CHECK_FALSE(colored("TERM=xterm NO_COLOR=1"));
}

TEST_CASE("program: short_number has four significant digits") {
  CHECK(program::short_number(1.09479) == "1.095");
  CHECK(program::short_number(2352.71) == "2353");
  CHECK(program::short_number(3.2e-7) == "3.2e-07");
}

TEST_CASE("program: results never overwrite the user's input file") {
  const Folder folder;
  const std::string data = "x,y\n1,2\n2,3\n3,5\n4,4\n", csv = folder.write("fits.csv", data);
  CHECK(contains(refusal_of("kernel_regression", "--csv " + csv + " --json " + csv), "is the file of --csv"));
  const Run drawn = run_regression("--csv " + csv + " --out " + folder.path.string());
  CHECK(drawn.code == 2);
  CHECK(contains(drawn.err, "is the file of --csv and would be overwritten; choose another"));
  CHECK(read_file(csv) == data);
}
