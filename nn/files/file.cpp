#include "nn/files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tensor/kernels/elementwise.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "tensors are stored as they are in memory");

// Some systems transfer at most 2 GB per call.
constexpr uint64_t kMaxTransfer = uint64_t{1} << 30;

// The elements of a contiguous tensor as they are in memory.
std::string_view raw_view(const Tensor& x) {
  const TensorImpl& body = TensorImpl::of(x);
  const int64_t size = size_of(x.dtype());
  return {reinterpret_cast<const char*>(body.storage->data + body.offset * size),
          static_cast<size_t>(x.numel() * size)};
}

// For names in the folder of a file. "" is the current folder.
fs::path folder_of(const std::string& path) { return fs::path(path).parent_path(); }

// Repeats a call that was interrupted by a signal.
auto uninterrupted(const auto& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}
int open_file(const std::string& path, int flags) {
  return uninterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC, 0666); });
}

// 1 sign bit, 5 exponent bits with a bias of 15, 10 fraction bits.
struct Float16 {
  operator float() const {
    const float scaled = std::bit_cast<float>((bits & 0x7FFFU) << 13) * 0x1p112F;  // to a bias of 127
    const float magnitude = scaled < 0x1p16F ? scaled : (bits & 0x3FF) != 0 ? NAN : INFINITY;
    return bits >> 15 ? -magnitude : magnitude;
  }
  uint16_t bits;
};

// The upper half of a float32.
struct Bfloat16 {
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  uint16_t bits;
};

// Elements of type Stored, which are read as T.
template <class Stored, class T>
constexpr StoredType stored(std::string_view safetensors, std::string_view npy, int32_t onnx) {
  return {safetensors,
          npy,
          onnx,
          sizeof(Stored),
          dtype_of<T>,
          [](const char* from, uint64_t count, void* values) {
            T* out = static_cast<T*>(values);
            if constexpr (std::is_same_v<Stored, T>) return void(std::memcpy(out, from, count * sizeof(T)));
            for (Stored element; count > 0; --count, from += sizeof element) {
              std::memcpy(&element, from, sizeof element);
              out = std::copy_n(&element, 1, out);
            }
          }};
}

}  // namespace

constexpr std::array<StoredType, 12> stored_types = {
    stored<float, float>("F32", "<f4", 1),      stored<double, double>("F64", "<f8", 11),
    stored<int64_t, int64_t>("I64", "<i8", 7),  stored<bool, bool>("BOOL", "|b1", 9),
    stored<Float16, float>("F16", "<f2", 10),   stored<Bfloat16, float>("BF16", "", 16),
    stored<int8_t, int64_t>("I8", "|i1", 3),    stored<int16_t, int64_t>("I16", "<i2", 5),
    stored<int32_t, int64_t>("I32", "<i4", 6),  stored<uint8_t, int64_t>("U8", "|u1", 2),
    stored<uint16_t, int64_t>("U16", "<u2", 4), stored<uint32_t, int64_t>("U32", "<u4", 12),
};

// Without O_NONBLOCK, opening a pipe would block until it has a writer.
FileReader::FileReader(const char* op, const std::string& path)
    : op_(op), path_(path), fd_(open_shared(path, O_RDONLY | O_NONBLOCK)) {
  require(*fd_ >= 0, "cannot be opened: ", std::strerror(errno));
  struct stat found {};
  const bool regular = fstat(*fd_, &found) == 0 && S_ISREG(found.st_mode);
  require(regular, S_ISDIR(found.st_mode) ? "is a folder" : "is not a regular file");
  left_ = static_cast<uint64_t>(found.st_size);
}

void FileReader::read(void* to, uint64_t count) {
  require(count <= left_, "ends too early: ", count, " bytes are needed, and ", left_, " are left");
  for (auto* at = static_cast<char*>(to); count > 0;) {
    const ssize_t got = uninterrupted([&] { return ::read(*fd_, at, std::min(count, kMaxTransfer)); });
    require(got >= 0, "cannot be read: ", std::strerror(errno));
    require(got > 0, "became shorter while it was read");
    at += got, count -= static_cast<uint64_t>(got), left_ -= static_cast<uint64_t>(got);
  }
}

std::string FileReader::read(uint64_t count, const char* what) {
  require(count <= left_, what, " takes ", count, " bytes, and ", left_, " are left in the file");
  std::string bytes(count, '\0');
  read(bytes.data(), count);
  return bytes;
}

const StoredType& FileReader::stored_type(std::string_view StoredType::*format, std::string_view name,
                                          std::string_view what, std::string_view hint) const {
  std::vector<std::string> known;
  for (const StoredType& type : stored_types) {
    if ((type.*format).empty()) continue;
    if (type.*format == name) return type;
    known.emplace_back(type.*format);
  }
  refuse(what, " is none of ", detail::listed(known), hint);
}

Tensor FileReader::read(const StoredType& type, const Shape& shape, std::string_view name) {
  Tensor x = Tensor::empty(shape, type.dtype);
  unsigned char* bytes = TensorImpl::of(x).storage->data;
  const auto elements = static_cast<uint64_t>(x.numel()), size = static_cast<uint64_t>(size_of(type.dtype));
  if (type.size == size) {  // stored as it is in memory
    read(bytes, elements * size);
  } else {
    char block[1 << 15];
    for (uint64_t i = 0; i < elements; i += 4096) {
      const uint64_t count = std::min<uint64_t>(elements - i, 4096);
      read(block, count * type.size);
      type.convert(block, count, bytes + i * size);
    }
  }
  for (int64_t i = 0; type.dtype == boolean && i < x.numel(); ++i)
    require(bytes[i] <= 1, name, "element ", i, " is a bool stored as ", int{bytes[i]},
            "; it must be 0 or 1");
  return x;
}

FileWriter::FileWriter(const char* op, const std::string& path) : op_(op), path_(path) {
  std::error_code none;
  if (const fs::path real = fs::canonical(path, none); !none) path_ = real;  // follows links
  struct stat old {};
  const bool exists = stat(path_.c_str(), &old) == 0, direct = exists && !S_ISREG(old.st_mode);
  static std::atomic<int64_t> count = 0;
  do {
    if (!direct) temporary_ = folder_of(path_) / detail::text(".heed-", getpid(), "-", count++);
    fd_ = direct ? open_file(path_, O_WRONLY) : open_file(temporary_, O_WRONLY | O_CREAT | O_EXCL);
  } while (fd_ < 0 && errno == EEXIST);
  require(fd_ >= 0);
  if (exists && !direct) fchmod(fd_, old.st_mode & 07777);
}

FileWriter::~FileWriter() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void FileWriter::require(bool condition) const {
  check(condition, op_, ": ", path_, ": cannot be written: ", std::strerror(errno));
}

void FileWriter::write(std::string_view bytes) { require(write_all(fd_, bytes)); }

void FileWriter::write(const Tensor& x) { write(raw_view(kernel::contiguous(x))); }

void FileWriter::finish() {
  if (!temporary_.empty()) require(uninterrupted([&] { return fsync(fd_); }) == 0);
  // After EINTR the descriptor is closed as well, and another thread may already use its number.
  require(close(std::exchange(fd_, -1)) == 0 || errno == EINTR);
  if (temporary_.empty()) return;
  const std::string place = folder_of(path_) / ".";
  require(uninterrupted([&] { return std::rename(temporary_.c_str(), path_.c_str()); }) == 0);
  temporary_.clear();
  // Flushes the new name too. Not every file system can flush a folder, and not every user may open it.
  const int folder = open_file(place, O_RDONLY | O_DIRECTORY);
  const bool flushed = folder >= 0 && uninterrupted([&] { return fsync(folder); }) == 0;
  const int wrong = errno;
  if (folder >= 0) close(folder);
  check(flushed || wrong == EACCES || wrong == EINVAL || wrong == ENOTSUP, op_, ": ", path_,
        ": is written, but its folder cannot be flushed to the disk: ", std::strerror(wrong));
}

std::string raw_bytes(const Tensor& x) { return std::string(raw_view(kernel::contiguous(x))); }

std::shared_ptr<const int> open_shared(const std::string& path, int flags) {
  return {new int(open_file(path, flags)), [](const int* fd) { close(*fd), delete fd; }};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const uint64_t count = std::min(bytes.size(), kMaxTransfer);
    const ssize_t put = uninterrupted([&] { return ::write(fd, bytes.data(), count); });
    if (put == 0) errno = ENOSPC;  // otherwise the loop would not end
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

void write_file(const std::string& path, std::string_view contents) {
  FileWriter file("write_file", path);
  file.write(contents);
  file.finish();
}

std::optional<uint64_t> byte_count(const Shape& shape, uint64_t element) {
  auto bytes = static_cast<int64_t>(element);
  for (const int64_t size : shape)
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes)) return std::nullopt;
  return std::ranges::count(shape, 0) > 0 ? 0 : bytes;
}

std::string looks_like(std::string_view start) {
  constexpr std::pair<std::string_view, const char*> kKinds[] = {
      {"\x93NUMPY", "a NumPy file; load_npy reads it"},
      {"PK\3\4", "a zip archive (.pt, .npz); in Python, save its tensors with safetensors.torch or np.save"},
      {"\x1f\x8b", "a gzip file; decompress it first"},
      {"\x89HDF", "an HDF5 file"},
      {"GGUF", "a GGUF file"},
      {"<", "an HTML page, perhaps instead of the file that was to be downloaded"},
      {"version h", "a Git LFS pointer; git lfs pull fetches the file"},
      {"{", "JSON"},
  };
  for (const auto& [magic, kind] : kKinds)
    if (start.starts_with(magic)) return detail::text("; it looks like ", kind);
  if (start.size() > 1 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5)
    return "; it looks like a Python pickle (an old .pt); in Python, save its tensors with safetensors.torch";
  std::string visible(start);
  std::erase_if(visible, [](char c) { return c == '\n' || c == '\t' || c == '\r'; });
  return !visible.empty() && printable(visible) == visible ? "; it looks like text" : "";
}

}  // namespace heed
