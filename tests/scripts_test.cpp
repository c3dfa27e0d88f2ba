// Tests the scripts run.sh on a small project instead of the library, and the options of compare.sh.

#include <fstream>

#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& contents) { std::ofstream(file) << contents; }

// A copy of the scripts with programs and test binaries that print their folder.
void make_project(const fs::path& home) {
  for (const std::string folder : {"examples", "tests"}) {
    fs::create_directories(home / folder);
    fs::copy(fs::path(HEED_SOURCE_DIR) / folder / "run.sh", home / folder / "run.sh");
  }
  for (const std::string file : {".ci", "CMakePresets.json"})
    fs::copy(fs::path(HEED_SOURCE_DIR) / file, home / file, fs::copy_options::recursive);
  write(home / ".ci/setup.sh", "#!/bin/sh\n");  // installs nothing
  for (const std::string name : {"kernel_regression", "translate", "tour"})
    fs::create_directories(home / "examples" / name);
  write(home / "examples/kernel_regression/kernel_regression.cpp", "// A program.\n");
  write(home / "examples/tour/01_linear.cpp", "// A program without options.\n");
  write(home / "CMakeLists.txt", R"(
    cmake_minimum_required(VERSION 3.25)
    project(small NONE)
    foreach(program examples/kernel_regression examples/translate examples/01_linear tests/heed_tests tests/heed_example_tests)
      file(WRITE ${CMAKE_BINARY_DIR}/${program} "#!/bin/sh\necho of ${CMAKE_SOURCE_DIR}: $*\n")
      file(CHMOD ${CMAKE_BINARY_DIR}/${program} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    endforeach()
    foreach(target kernel_regression translate 01_linear all_tests programs)
      add_custom_target(${target})
    endforeach())");
}

}  // namespace

TEST_CASE("run.sh: rebuilds a folder that was moved or copied with its build tree") {
  const Folder folder;
  const fs::path here = folder / "here", moved = folder / "moved", copied = folder / "copied";
  make_project(here);
  const auto runs = [](const fs::path& home, const std::string& script) {
    const Run done = run_shell("cd '" + home.string() + "' && ./" + script);
    CAPTURE(done.err);
    CHECK(done.code == 0);
    CHECK(contains(done.out, "of " + home.string() + ": "));
    return contains(done.err + done.out, "building anew");
  };
  CHECK_FALSE(runs(here, "examples/run.sh kernel_regression"));
  CHECK_FALSE(runs(here, "examples/run.sh kernel_regression"));
  fs::rename(here, moved);
  CHECK(runs(moved, "examples/run.sh kernel_regression"));
  fs::copy(moved, copied, fs::copy_options::recursive);
  CHECK(runs(copied, "tests/run.sh -tc='a name'"));
  CHECK_FALSE(runs(moved, "tests/run.sh -tc='a name'"));
}

TEST_CASE("run.sh: configuring is quiet unless it fails") {
  const Folder folder;
  const fs::path home = folder / "home";
  make_project(home);
  const auto run = [&](const std::string& last_lines) {
    std::ofstream(home / "CMakeLists.txt", std::ios::app) << "\n" << last_lines;
    return run_shell("cd '" + home.string() + "' && ./examples/run.sh kernel_regression");
  };
  const Run quiet = run("message(STATUS \"heed: without a part\")\nmessage(WARNING \"Something is old.\")\n");
  CHECK(quiet.code == 0);
  for (const char* part :
       {"heed: configuring build/release\n", "heed: without a part\n", "Something is old."})
    CHECK_MESSAGE(contains(quiet.err, part), quiet.err);
  for (const char* part : {"Preset CMake variables", "Configuring done"})
    CHECK_MESSAGE(!contains(quiet.err, part), quiet.err);
  const Run failed = run("message(STATUS \"Looking for it\")\nmessage(FATAL_ERROR \"It is missing.\")\n");
  CHECK(failed.code == 1);
  for (const char* part : {"Looking for it", "It is missing."})
    CHECK_MESSAGE(contains(failed.err, part), failed.err);
}

TEST_CASE("run.sh: programs of the tour take no options; others write into out/NAME") {
  const Folder folder;
  const fs::path home = folder / "home";
  make_project(home);
  const auto run = [&](const std::string& arguments) {
    return run_shell("cd '" + home.string() + "' && ./examples/run.sh " + arguments);
  };
  for (const char* options : {"01_linear --steps 5", "01_linear --help"}) {
    const Run refused = run(options);
    CHECK(refused.code == 2);
    CHECK(refused.err ==
          "run.sh: the programs of examples/tour take no options; change numbers in "
          "examples/tour/01_linear.cpp\n");
    CHECK(refused.out == "");
  }
  CHECK_FALSE(fs::exists(home / "build"));
  CHECK(run("01_linear").out == "of " + home.string() + ":\n");
  CHECK(run("kernel_regression --w 2").out ==
        "of " + home.string() + ": --w 2 --out out/kernel_regression\n");
}

TEST_CASE("run.sh api: a page for every public name; names without a comment are errors") {
  if (run_shell("command -v doxygen").code != 0) {
    MESSAGE("skipped: doxygen is not installed (.ci/setup.sh api)");
    return;
  }
  const Folder folder;
  const fs::path home = folder / "home";
  make_project(home);
  write(home / "heed.h", "/// @file\n/// @mainpage\n/// All of it.\n#include \"tensor/size.h\"\n");
  for (const std::string room : {"heed", "tensor", "autograd", "nn"}) fs::create_directories(home / room);
  const std::string intro = "/// Sizes.\n", first = "namespace heed {\n\n",
                    second = R"(/// How large something is.
///
///   returns  a[i] * b_i <- c
struct Size {
  Size(const Size&) = default;
  int64_t width, height, depth = 1;  ///< to the right; down; x < y
  double all, of_them;               ///< one for both

 private:
  int64_t hidden;
};
/// What is large: [T, E](n) * 2 * n.
Size large(int64_t n);
namespace detail {
Size not_public(int64_t n);
}
)",
                    last = "\n}  // namespace heed\n";
  const auto run = [&](const std::string& header) {
    write(home / "tensor/size.h", header);
    return run_shell("cd '" + home.string() + "' && ./examples/run.sh api");
  };

  const Run done = run("\n" + intro + first + second + last);
  CAPTURE(done.err);
  CHECK(done.code == 0);
  CHECK(done.out == "out/api/index.html\n");
  CHECK(contains(read_file(home / "out/api/index.html"), "All of it."));
  const std::string page = read_file(home / "out/api/structheed_1_1Size.html");
  CHECK(contains(page, "returns  a[i] * b_i &lt;- c"));
  for (const std::string part : {"to the right", "down", "x &lt; y", "one for both"})
    CHECK(contains(page, part));
  CHECK(contains(read_file(home / "out/api/size_8h.html"), "[T, E](n) * 2 * n"));
  CHECK(contains(read_file(home / "out/api/files.html"), "Sizes"));
  CHECK_FALSE(fs::exists(home / "build"));
  Texts left;
  for (const auto& entry : fs::directory_iterator(home)) left.push_back(entry.path().filename());
  std::ranges::sort(left);
  CHECK(left == Texts{".ci", "CMakeLists.txt", "CMakePresets.json", "autograd", "examples", "heed", "heed.h",
                      "nn", "out", "tensor", "tests"});

  // A function, a type and a header without a comment.
  for (const auto& [header, name] :
       {std::pair("\n" + intro + first + second + "Size quiet(int64_t n);\n" + last, "quiet"),
        std::pair("\n" + intro + first + "struct Silent {\n  int64_t size;\n};\n" + last, "Silent"),
        std::pair("\n" + first + second + last, "no_comment_says_what_it_holds")}) {
    const Run failed = run(header);
    CAPTURE(name);
    CHECK(failed.code != 0);
    CHECK(contains(failed.err, name));
    CHECK(failed.out == "");
  }

  const Run unknown = run_shell("cd '" + home.string() + "' && ./examples/run.sh nonsense");
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "\n  api "));
  write(home / "examples/translate/translate.cpp", "// A program.\n");
  for (const std::string name : {"kernel_regression", "translate"})
    fs::create_directories(home / "out" / name);
  const Run plain = run_shell("cd '" + home.string() + "' && ./examples/run.sh");
  CAPTURE(plain.err);
  CHECK(plain.code == 0);
  CHECK(contains(plain.out, "Other programs: ./examples/run.sh NAME"));
  CHECK_FALSE(contains(plain.out, "  api"));
}

TEST_CASE("compare.sh: wrong options end with 2, before anything is built") {
  const Folder folder;
  const fs::path bare = folder / "bare";  // an environment without packages
  fs::create_directories(bare / "bin");
  write(bare / "bin/python", "#!/bin/sh\nexit 1\n");
  fs::permissions(bare / "bin/python", fs::perms::owner_all);
  const std::string python = "--python '" + bare.string() + "'";
  for (const auto& [options, message] : {
           std::pair<std::string, std::string>("--python", "--python needs a value"),
           {"--python '" + folder.path.string() + "'", "no bin/python there"},
           {python, "neither torch nor jax (and numpy) is installed there"},
           {python + " --memory", "--memory does not measure the sides of --python"},
           {python + " --side 'jax tinygrad'",
            "--side takes some of pytorch, compile and jax, not 'tinygrad'"},
           {"--side jax", "--side chooses among the sides of --python"},
           {"--torch '" + folder.path.string() + "'", "no libtorch there"},
           {"--threads none", "--threads takes numbers"},
           {"--rounds 0", "--rounds takes a number from 1"},
           {"--filter '('", "--filter: not a regular expression"},
           {"--nonsense", "no such option: --nonsense"},
       }) {
    CAPTURE(options);
    const Run failed = run_shell("'" HEED_SOURCE_DIR "/bench/compare.sh' " + options);
    CHECK(failed.code == 2);
    CHECK(contains(failed.err, message));
    CHECK(contains(failed.err, "usage: bench/compare.sh"));
    CHECK(failed.out == "");
  }
}

TEST_CASE("machines.sh: wrong arguments end with a message before anything is built") {
  const auto refusal = [](const std::string& arguments) {
    const Run run = run_shell(HEED_SOURCE_DIR "/examples/machines.sh " + arguments);
    CHECK(run.code == 2);
    CHECK(run.out.empty());
    return run.err;
  };
  for (const char* arguments : {"", "2", "0 translate", "two translate", "2 here:1,there:1"})
    CHECK_MESSAGE(contains(refusal(arguments), "usage: "), arguments);
  CHECK(contains(refusal("2 kernel_regression"), "kernel_regression does not train on several processes"));
}
