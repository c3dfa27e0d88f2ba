#include "tests/faults/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tensor/error.h"
#include "tensor/parallel.h"

namespace fs = std::filesystem;

MemoryFile::MemoryFile(std::string_view bytes) : fd_(memfd_create("input", MFD_CLOEXEC)) {
  expect(fd_ >= 0 && write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
         "no memfd");
}
MemoryFile::~MemoryFile() { close(fd_); }
std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(fd_); }

std::string scratch() {
  static const std::string path = (fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path()) /
                                  fs::path("heed_fuzz_" + std::to_string(getpid()));
  static const bool removed_at_exit = std::atexit([] { std::remove(scratch().c_str()); }) == 0;
  expect(removed_at_exit, "atexit");
  return path;
}
std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void expect(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "heed: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// Writes the seeds to the first folder among the arguments, from which libFuzzer reads them.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  heed::set_num_threads(1);
  for (int i = 1; i < *count; ++i) {
    const fs::path folder = (*arguments)[i];
    if (!fs::is_directory(folder)) continue;
    int number = 0;
    seeds([&](std::string_view bytes) {
      std::ofstream(folder / ("seed" + std::to_string(number++)), std::ios::binary) << bytes;
    });
    break;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    run({reinterpret_cast<const char*>(data), size});
  } catch (const heed::Error&) {
  }
  return 0;
}
