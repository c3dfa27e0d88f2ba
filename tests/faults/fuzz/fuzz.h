#pragma once

#include <functional>
#include <string>
#include <string_view>

// Each target in this folder defines these two functions; fuzz.cpp calls them for libFuzzer.

/// Calls add(bytes) for each initial input, in addition to those in the folder.
void seeds(const std::function<void(std::string_view bytes)>& add);
/// Runs the code on any bytes. It may throw an Error; anything else that is wrong ends the program.
void run(std::string_view bytes);

/// A file in memory with these bytes.
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

/// A path for a temporary file, the same in each call.
std::string scratch();
/// The bytes of a file.
std::string contents(const std::string& path);
/// Ends the program unless `holds`, which libFuzzer reports as a finding.
void expect(bool holds, std::string_view what);
