#pragma once

#include <functional>
#include <string>
#include <string_view>

// What each target in this folder says; fuzz.cpp hands it to libFuzzer.

/// Calls add(bytes) for inputs to begin with, besides those that the folder given has.
void seeds(const std::function<void(std::string_view bytes)>& add);
/// Runs the code on any bytes: an Error is an answer, anything else that is odd ends the program.
void run(std::string_view bytes);

/// A file of these bytes, in memory alone.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const;

 private:
  int fd_;
};

/// A path where a file may be written, the same each time.
std::string scratch();
/// What a file holds, with its end.
std::string contents(const std::string& path);
/// Ends the program, which libFuzzer takes for a finding, unless `holds`.
void expect(bool holds, std::string_view what);
