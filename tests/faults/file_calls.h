#pragma once

#include <string>
#include <vector>

namespace faults {

/// What happens instead of a call.
enum class Fault {
  none,
  no_space,     // fails with ENOSPC
  input,        // fails with EIO
  interrupted,  // fails with EINTR
  half,         // transfers half of the bytes
  nothing,      // transfers none
};

/// Records the calls of open, read, write, fsync, close and rename that heed makes until the end of the
/// scope: "write a", where a is the name without its folder, or "." for the folder. The call with this
/// number, from 0, may fail.
class FileCalls {
 public:
  FileCalls(const std::string& folder, Fault fault = Fault::none, size_t number = 0);
  ~FileCalls();
  FileCalls(const FileCalls&) = delete;
  FileCalls& operator=(const FileCalls&) = delete;

  std::vector<std::string> made;

 private:
  friend struct CallObserver;
  std::string folder_;
  Fault fault_;
  size_t number_;
};

}  // namespace faults
