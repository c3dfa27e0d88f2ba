#include "tests/faults/file_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <map>

// The linker turns calls of open() into calls of __wrap_open(), and so on (CMakeLists.txt).
// NOLINTBEGIN
extern "C" {
int __real_open(const char* path, int flags, ...);
ssize_t __real_read(int fd, void* to, size_t count);
ssize_t __real_write(int fd, const void* from, size_t count);
int __real_fsync(int fd);
int __real_close(int fd);
int __real_rename(const char* from, const char* to);
}
// NOLINTEND

namespace faults {

// The calls of one thread: tests of files use only one.
struct CallObserver {
  static inline FileCalls* current = nullptr;
  static inline std::map<int, std::string> names;  // of open files

  static Fault next(const std::string& call, const std::string& name) {
    current->made.push_back(call + " " + name);
    return current->made.size() == current->number_ + 1 ? current->fault_ : Fault::none;
  }
  static std::string name_of(const std::string& path) {
    if (!path.starts_with(current->folder_)) return path;
    const std::string rest = path.substr(current->folder_.size());
    const size_t begin = rest.find_first_not_of('/');
    if (begin == std::string::npos) return ".";
    return rest.substr(begin).starts_with(".heed-") ? "temporary" : rest.substr(begin);
  }
  static bool fails(Fault fault) {
    errno = fault == Fault::no_space ? ENOSPC : fault == Fault::input ? EIO : EINTR;
    return fault == Fault::no_space || fault == Fault::input || fault == Fault::interrupted;
  }
  static size_t count(Fault fault, size_t count) {
    return fault == Fault::half ? (count + 1) / 2 : fault == Fault::nothing ? 0 : count;
  }
};

FileCalls::FileCalls(const std::string& folder, Fault fault, size_t number)
    : folder_(folder), fault_(fault), number_(number) {
  CallObserver::current = this;
}
FileCalls::~FileCalls() { CallObserver::current = nullptr; }

}  // namespace faults

using faults::Fault, faults::CallObserver;

// NOLINTBEGIN
extern "C" {
int __wrap_open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
  va_end(rest);
  if (!CallObserver::current) return __real_open(path, flags, mode);
  const std::string name = CallObserver::name_of(path);
  if (CallObserver::fails(CallObserver::next("open", name))) return -1;
  const int fd = __real_open(path, flags, mode);
  if (fd >= 0) CallObserver::names[fd] = name;
  return fd;
}
ssize_t __wrap_read(int fd, void* to, size_t count) {
  if (!CallObserver::current) return __real_read(fd, to, count);
  const Fault fault = CallObserver::next("read", CallObserver::names[fd]);
  if (CallObserver::fails(fault)) return -1;
  return __real_read(fd, to, CallObserver::count(fault, count));
}
ssize_t __wrap_write(int fd, const void* from, size_t count) {
  if (!CallObserver::current) return __real_write(fd, from, count);
  const Fault fault = CallObserver::next("write", CallObserver::names[fd]);
  if (CallObserver::fails(fault)) return -1;
  return __real_write(fd, from, CallObserver::count(fault, count));
}
int __wrap_fsync(int fd) {
  if (!CallObserver::current) return __real_fsync(fd);
  return CallObserver::fails(CallObserver::next("fsync", CallObserver::names[fd])) ? -1 : __real_fsync(fd);
}
int __wrap_close(int fd) {  // always closes
  if (!CallObserver::current) return __real_close(fd);
  const Fault fault = CallObserver::next("close", CallObserver::names[fd]);
  const int result = __real_close(fd);
  return CallObserver::fails(fault) ? -1 : result;
}
int __wrap_rename(const char* from, const char* to) {
  if (!CallObserver::current) return __real_rename(from, to);
  return CallObserver::fails(CallObserver::next("rename", CallObserver::name_of(from)))
             ? -1
             : __real_rename(from, to);
}
}
// NOLINTEND
