// The scripts that a newcomer runs first, on a small project in place of the library.

#include <filesystem>
#include <fstream>

#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& contents) { std::ofstream(file) << contents; }

// A copy of the scripts with a program and a test binary that say where they are.
void make_project(const fs::path& home) {
  for (const std::string folder : {"examples", "tests"}) {
    fs::create_directories(home / folder);
    fs::copy(fs::path(HEED_SOURCE_DIR) / folder / "run.sh", home / folder / "run.sh");
  }
  for (const std::string file : {".ci", "CMakePresets.json"})
    fs::copy(fs::path(HEED_SOURCE_DIR) / file, home / file, fs::copy_options::recursive);
  write(home / ".ci/setup.sh", "#!/bin/sh\n");  // nothing is installed
  write(home / "examples/kernel_regression.cpp", "// A program.\n");
  write(home / "CMakeLists.txt", R"(
    cmake_minimum_required(VERSION 3.25)
    project(small NONE)
    foreach(program examples/kernel_regression tests/heed_tests)
      file(WRITE ${CMAKE_BINARY_DIR}/${program} "#!/bin/sh\necho of ${CMAKE_SOURCE_DIR}: $*\n")
      file(CHMOD ${CMAKE_BINARY_DIR}/${program} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    endforeach()
    foreach(target kernel_regression heed_tests programs)
      add_custom_target(${target})
    endforeach())");
}

}  // namespace

TEST_CASE("run.sh: a folder that was moved or copied with its build tree is built anew") {
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
