#pragma once

#include <array>
#include <optional>

#include "tensor/tensor.h"

/// Reading and writing files. Tensors are stored row-major and little-endian.
namespace heed {

class FileReader;

/// How a file stores the elements of a tensor.
struct StoredType {
  std::string_view safetensors;  ///< "F32"
  std::string_view npy;          ///< "<f4"; "" if NumPy does not have this type
  int64_t size;                  ///< bytes per element
  DType dtype;                   ///< of the tensor that is read
  void (*read)(FileReader& file, const Tensor& x);
};
/// float32, float64, int64 and bool, as they are written, in the order of DType. Then those that are only
/// read: float16 and bfloat16 as float32; integers of 8 to 32 bits as int64.
extern const std::array<StoredType, 12> stored_types;

/// Reads a regular file from its beginning. Errors begin with the operation and the path.
class FileReader {
 public:
  /// Opens the file. Throws if it cannot be read or is not a regular file.
  FileReader(const char* op, const std::string& path);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  /// The number of bytes that were not read yet.
  uint64_t left() const { return left_; }
  /// Reads the next `count` bytes. Throws if the file has fewer.
  void read(void* to, uint64_t count);
  /// The same into a string. Throws before it allocates; the message calls the bytes `what`.
  std::string read(uint64_t count, const char* what);
  /// Finds a type by its name in a format, such as &StoredType::npy. Throws if there is none: "`what` is none
  /// of ...`hint`".
  const StoredType& stored_type(std::string_view StoredType::*format, std::string_view name,
                                std::string_view what, std::string_view hint = "") const;
  /// Reads a tensor. Throws if a bool is neither 0 nor 1; the message begins with `name`.
  Tensor read(const StoredType& type, const Shape& shape, std::string_view name);

  /// Throws unless `condition` holds.
  void require(bool condition, const auto&... parts) const {
    if (!condition) [[unlikely]]
      refuse(parts...);
  }
  /// Throws an Error of the operation, the path and these parts.
  [[noreturn]] void refuse(const auto&... parts) const { fail(op_, ": ", path_, ": ", parts...); }

 private:
  const char* op_;
  std::string path_;
  int fd_;
  uint64_t left_ = 0;
};

/// Writes a file that is never seen incomplete: a temporary file in the same folder, which finish() flushes
/// to the disk and renames. Without finish() nothing remains. Pipes and devices are written directly.
///
/// A killed program leaves the temporary file, `.heed-<process>-<number>`. It is harmless and never removed
/// automatically: on a shared disk its process may still run on another machine.
class FileWriter {
 public:
  /// Opens the temporary file. Throws if it cannot be written.
  FileWriter(const char* op, const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::string_view bytes);
  void write(const Tensor& x);  ///< Writes all values in row-major order.
  void finish();                ///< Completes the file and moves it to its path.

 private:
  void require(bool condition) const;

  const char* op_;
  std::string path_;
  std::string temporary_;  // empty for pipes and devices
  int fd_ = -1;
};

/// Writes a whole file with FileWriter.
void write_file(const std::string& path, std::string_view contents);

/// The size in bytes of a tensor whose elements have `element` bytes; nullopt if it exceeds 63 bits, even if
/// another size is 0.
std::optional<int64_t> byte_count(const Shape& shape, int64_t element);

/// What a file looks like by its first bytes, for messages about a file of the wrong format: "; it looks like
/// a gzip file". "" if that is unknown.
std::string looks_like(std::string_view start);

}  // namespace heed
