#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

/// What a program answered.
struct Run {
  int code;         // exit code
  std::string out;  // standard output
  std::string err;  // standard error
};

/// Runs build/<preset>/examples/`name` with arguments as a shell reads them. `before` comes before the name:
/// environment variables, say.
Run run_program(const std::string& name, const std::string& arguments, const std::string& before = "");

/// The same with --json -: its results. A failure of the program fails the test.
nlohmann::json results_of(const std::string& name, const std::string& arguments);

/// What the program says when it ends with 2 and nothing on standard output, as it must.
std::string refusal_of(const std::string& name, const std::string& arguments);

/// What a shell makes of a command.
Run run_shell(const std::string& command);

/// A new folder, gone with its contents at the end of the scope.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& file) const { return (path / file).string(); }
  /// The path of a new file.
  std::string write(const std::string& file, const std::string& contents) const;

  std::filesystem::path path;
};

std::string read_file(const std::string& path);
/// Calls f with all that begins `bytes`, and with `bytes` after several changes of each of them.
void each_damage(const std::string& bytes, const std::function<void(const std::string&)>& f);
std::vector<std::string> lines_of(const std::string& text);

/// What checks of the project's own files found: nothing, or the test fails.
using Findings = std::vector<std::string>;
void require_none(const Findings& findings);
