#pragma once

#include <array>

#include "tensor/tensor.h"

/// Reading and writing files. Tensors are stored row-major and little-endian.
namespace heed {

class FileReader;

/// How a file stores the elements of a tensor.
struct StoredType {
  std::string_view safetensors;  ///< "F32"
  std::string_view npy;          ///< "<f4"; "" if NumPy does not have this type
  int32_t onnx;                  ///< number in ONNX's TensorProto.DataType
  uint64_t size;                 ///< bytes per element
  DType dtype;                   ///< of the tensor that is read
  /// Writes `count` stored elements to `values`, elements of the dtype.
  void (*convert)(const char* stored, uint64_t count, void* values);
};
/// First float32, float64, int64 and bool, in the order of DType: tensors are written as these. Then the
/// types that are only read: float16 and bfloat16 as float32, and integers of 8 to 32 bits as int64.
extern const std::array<StoredType, 12> stored_types;

/// Reads a regular file from its beginning. Errors begin with the operation and the path.
class FileReader {
 public:
  /// Throws if the file cannot be read or is not a regular file.
  FileReader(const char* op, const std::string& path);
  FileReader(const FileReader&) = delete;

  /// The number of bytes that were not read yet.
  uint64_t left() const { return left_; }
  /// Reads the next `count` bytes. Throws if the file has fewer.
  void read(void* to, uint64_t count);
  /// Reads bytes, called `what` in the message. Throws before allocating if the file has fewer.
  std::string read(uint64_t count, const char* what);
  /// Returns the type with this name in a format, such as &StoredType::npy. If there is none, throws "`what`
  /// is none of ...`hint`".
  const StoredType& stored_type(std::string_view StoredType::*format, std::string_view name,
                                std::string_view what, std::string_view hint = "") const;
  /// Reads a tensor. Throws if a bool is neither 0 nor 1; the message begins with `name`.
  Tensor read(const StoredType& type, const Shape& shape, std::string_view name);

  /// Throws unless `condition` holds.
  void require(bool condition, const auto&... parts) const {
    check(condition, op_, ": ", path_, ": ", parts...);
  }
  /// Throws an Error of the operation, the path and these parts.
  [[noreturn]] void refuse(const auto&... parts) const { fail(op_, ": ", path_, ": ", parts...); }

 private:
  const char* const op_;
  const std::string path_;
  const std::shared_ptr<const int> fd_;
  uint64_t left_ = 0;
};

/// Writes a file atomically: to a temporary file in the same folder, which finish() flushes to the disk and
/// renames. Without finish() the old file is unchanged. Writes directly to pipes and devices.
///
/// A killed program leaves the temporary file, `.heed-<process>-<number>`. It is harmless and never removed
/// automatically: on a shared disk its process may still be running on another machine.
class FileWriter {
 public:
  /// Throws if the temporary file cannot be created.
  FileWriter(const char* op, const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;

  void write(std::string_view bytes);
  void write(const Tensor& x);  ///< Writes the elements in row-major order.
  void finish();                ///< Completes the file and moves it to its path.

 private:
  void require(bool condition) const;

  const char* const op_;
  std::string path_;
  std::string temporary_;  // empty for pipes and devices
  int fd_ = -1;
};

/// The elements of a tensor in row-major order, as files have them.
std::string raw_bytes(const Tensor& x);
/// Opens a file until the last copy of the result is destroyed. The number is -1 if that fails.
std::shared_ptr<const int> open_shared(const std::string& path, int flags);
/// Writes to an open file. Returns false, with errno, if that fails.
bool write_all(int fd, std::string_view bytes);

/// Writes a whole file atomically.
void write_file(const std::string& path, std::string_view contents);

/// The size in bytes of a tensor whose elements have `element` bytes; nullopt if it exceeds 63 bits, even if
/// another size is 0.
std::optional<uint64_t> byte_count(const Shape& shape, uint64_t element);

/// Describes a file of the wrong format by its first bytes, for messages: "; it looks like a gzip file", or
/// "" if the format is unknown.
std::string looks_like(std::string_view start);

}  // namespace heed
