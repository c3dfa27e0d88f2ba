#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

/// The result of running a program.
struct Run {
  int code;         // exit code
  std::string out;  // standard output
  std::string err;  // standard error
};

/// Runs build/<preset>/examples/`name` through a shell. `before` comes before the name, such as environment
/// variables.
Run run_program(const std::string& name, const std::string& arguments, const std::string& before = "");

/// Runs it with --json - and returns its results. The test fails if the program does.
nlohmann::json results_of(const std::string& name, const std::string& arguments);

/// The error message of a run that must exit with 2 and print nothing on standard output.
std::string refusal_of(const std::string& name, const std::string& arguments);

/// Runs a command in a shell.
Run run_shell(const std::string& command);

/// Whether f returns true in a child process, within 20 seconds.
bool in_child(const std::function<bool()>& f);

/// A new folder that is deleted at the end of the scope.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& file) const { return (path / file).string(); }
  /// Writes a file and returns its path.
  std::string write(const std::string& file, const std::string& contents) const;

  std::filesystem::path path;
};

std::string read_file(const std::string& path);
/// Calls f with every prefix of `bytes`, and with copies in which one byte is changed in several ways.
void each_damage(const std::string& bytes, const std::function<void(const std::string&)>& f);
std::vector<std::string> lines_of(const std::string& text);

/// The findings of checks of the project's own files. require_none() fails the test if there are any.
using Findings = std::vector<std::string>;
void require_none(const Findings& findings);
