#include "tests/support/program.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

Run run_program(const std::string& name, const std::string& arguments, const std::string& before) {
  return run_shell(before + " '" HEED_BINARY_DIR "/examples/" + name + "' " + arguments);
}

Run run_shell(const std::string& command) {
  const Folder folder;
  const int status =
      std::system((command + " </dev/null >'" + folder / "out" + "' 2>'" + folder / "err" + "'").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder / "out"), read_file(folder / "err")};
}

bool in_child(const std::function<bool()>& f) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);
    int answer = 9;
    try {
      answer = f() ? 7 : 8;
    } catch (...) {
    }
    _exit(answer);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

Folder::Folder() {
  static int count = 0;
  path = std::filesystem::temp_directory_path() /
         ("heed_test_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  std::filesystem::create_directories(path);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::string Folder::write(const std::string& file, const std::string& contents) const {
  std::ofstream(*this / file, std::ios::binary) << contents;
  return *this / file;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void each_damage(const std::string& bytes, const std::function<void(const std::string&)>& f) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    f(bytes.substr(0, i));
    for (const char flip : {'\1', '\4', '\x80', bytes[i]}) {
      std::string bad = bytes;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      f(bad);
    }
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void require_none(const Findings& findings) {
  for (const std::string& finding : findings) FAIL_CHECK(finding);
}

std::string refusal_of(const std::string& name, const std::string& arguments) {
  const Run done = run_program(name, arguments);
  CAPTURE(arguments);
  CHECK(done.code == 2);
  CHECK(done.out.empty());
  return done.err;
}

nlohmann::json results_of(const std::string& name, const std::string& arguments) {
  const Run done = run_program(name, arguments + " --json -");
  CAPTURE(done.err);
  REQUIRE(done.code == 0);
  return nlohmann::json::parse(done.out);
}
