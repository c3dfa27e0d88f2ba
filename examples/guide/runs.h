#pragma once

#include <filesystem>
#include <set>
#include <string>

/// The commands whose output and pictures the guide shows.
namespace program {

class Runs {
 public:
  struct Folders {
    std::filesystem::path project;   ///< where commands run
    std::filesystem::path programs;  ///< the binaries
    std::filesystem::path out;       ///< of the guide; each run has a folder in out/runs
  };

  /// Runs each command, "scores --score dot", on one thread, and as many at a time as there are cores. With
  /// `reuse`, results of an earlier call stay if they are newer than their program. Throws if a command
  /// fails.
  Runs(Folders folders, const std::set<std::string>& commands, bool reuse = false);

  /// What the command printed.
  std::string printed(const std::string& command) const;
  /// The number or text under a dotted path of its --json results.
  std::string number(const std::string& command, const std::string& path) const;
  /// The path from out/ of a file that it drew.
  std::string picture(const std::string& command, const std::string& file) const;
  /// How long it took.
  double seconds(const std::string& command) const;

 private:
  std::filesystem::path folder_of(const std::string& command) const;
  std::string run(const std::string& command) const;
  bool is_up_to_date(const std::string& command) const;

  Folders folders_;
};

/// A duration, rounded: "takes 2 s", "takes 45 s", "takes 1.5 min", "takes under 1 s".
std::string duration_text(double seconds, bool chinese);

}  // namespace program
