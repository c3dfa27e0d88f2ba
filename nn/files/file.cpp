#include "nn/files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored as they are in memory");

// Some systems move at most 2 GB at once.
constexpr uint64_t kMaxOperands = uint64_t{1} << 30;

// The place of a file, links followed; the path itself when it does not exist yet.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// The same call again for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}
int open_file(const std::string& path, int flags) {
  return uninterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC, 0666); });
}

}  // namespace

// Without O_NONBLOCK, opening a pipe would wait for somebody to write.
FileReader::FileReader(const char* op, const std::string& path)
    : op_(op), path_(path), fd_(open_file(path, O_RDONLY | O_NONBLOCK)) {
  require(fd_ >= 0, "cannot be opened: ", std::strerror(errno));
  struct stat found {};
  const bool regular = fstat(fd_, &found) == 0 && S_ISREG(found.st_mode);
  if (!regular) close(fd_);
  require(regular, S_ISDIR(found.st_mode) ? "is a folder" : "is not a regular file");
  left_ = static_cast<uint64_t>(found.st_size);
}

FileReader::~FileReader() { close(fd_); }

void FileReader::read(void* to, uint64_t count) {
  require(count <= left_, "ends too early: ", count, " bytes are wanted and ", left_, " are left");
  for (auto* at = static_cast<char*>(to); count > 0;) {
    const ssize_t got = uninterrupted([&] { return ::read(fd_, at, std::min(count, kMaxOperands)); });
    require(got >= 0, "cannot be read: ", std::strerror(errno));
    require(got > 0, "became shorter while it was read");
    at += got, count -= static_cast<uint64_t>(got), left_ -= static_cast<uint64_t>(got);
  }
}

std::string FileReader::read(uint64_t count, const char* what) {
  require(count <= left_, what, " takes ", count, " bytes, and the file has ", left_, " there");
  std::string bytes(count, '\0');
  read(bytes.data(), count);
  return bytes;
}

void FileReader::read(const Tensor& x, std::string_view name) {
  unsigned char* bytes = TensorImpl::of(x).storage->data;
  const int64_t count = x.numel() * size_of(x.dtype());
  read(bytes, static_cast<uint64_t>(count));
  for (int64_t i = 0; x.dtype() == boolean && i < count; ++i)
    require(bytes[i] <= 1, name, "element ", i, " is a bool stored as ", int{bytes[i]},
            "; it must be 0 or 1");
}

FileWriter::FileWriter(const char* op, const std::string& path) : op_(op), path_(real_path(path)) {
  struct stat old {};
  const bool exists = stat(path_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    fd_ = open_file(path_, O_WRONLY);
    require(fd_ >= 0);
    return;
  }
  static std::atomic<int64_t> count = 0;
  do {
    beside_ = folder_of(path_) + "/.heed-" + std::to_string(getpid()) + "-" + std::to_string(count++);
    fd_ = open_file(beside_, O_WRONLY | O_CREAT | O_EXCL);
  } while (fd_ < 0 && errno == EEXIST);
  require(fd_ >= 0);
  if (exists) fchmod(fd_, old.st_mode & 07777);
}

FileWriter::~FileWriter() {
  if (fd_ >= 0) close(fd_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

void FileWriter::require(bool condition) const {
  check(condition, op_, ": ", path_, ": cannot be written: ", std::strerror(errno));
}

void FileWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto write = [&] {
      return ::write(fd_, bytes.data(), std::min<uint64_t>(bytes.size(), kMaxOperands));
    };
    const ssize_t put = uninterrupted(write);
    if (put == 0) errno = ENOSPC;  // lest it try for ever
    require(put > 0);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

void FileWriter::write(const Tensor& x) {
  const Tensor whole = kernel::contiguous(x);
  const int64_t size = size_of(x.dtype());
  write({reinterpret_cast<const char*>(TensorImpl::of(whole).storage->data +
                                       TensorImpl::of(whole).offset * size),
         static_cast<size_t>(x.numel() * size)});
}

void FileWriter::finish() {
  if (!beside_.empty()) require(uninterrupted([&] { return fsync(fd_); }) == 0);
  // After EINTR the file is closed all the same, and another thread may have opened one of its number.
  require(close(std::exchange(fd_, -1)) == 0 || errno == EINTR);
  if (beside_.empty()) return;
  const std::string place = folder_of(path_);
  require(uninterrupted([&] { return std::rename(beside_.c_str(), path_.c_str()); }) == 0);
  beside_.clear();
  // The new name is on the disk when its folder is. Not every file system can promise that, nor every user
  // read it.
  const int folder = open_file(place, O_RDONLY | O_DIRECTORY);
  bool kept = folder >= 0 ? uninterrupted([&] { return fsync(folder); }) == 0 : errno == EACCES;
  const int wrong = errno;
  kept = kept || wrong == EINVAL || wrong == ENOTSUP;
  if (folder >= 0) close(folder);
  check(kept, op_, ": ", path_,
        ": is written, but its folder cannot be brought to the disk: ", std::strerror(wrong));
}

void write_file(const std::string& path, std::string_view contents) {
  FileWriter file("write_file", path);
  file.write(contents);
  file.finish();
}

std::optional<int64_t> byte_count(const Shape& shape, int64_t element) {
  int64_t bytes = element;
  for (const int64_t size : shape)
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes)) return std::nullopt;
  return std::ranges::count(shape, 0) > 0 ? 0 : bytes;
}

}  // namespace heed
