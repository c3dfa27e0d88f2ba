#pragma once

#include <optional>

#include "tensor/tensor.h"

/// Files as the library reads and writes them: bytes of tensors are row-major and little-endian.
namespace heed {

/// Reads a regular file from its beginning. Errors name the operation and the path.
class FileReader {
 public:
  /// Opens it. Errors: it cannot be read, or is no regular file.
  FileReader(const char* op, const std::string& path);
  ~FileReader();  ///< Closes it.
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  /// The number of bytes after those read.
  uint64_t left() const { return left_; }
  /// `count` more bytes into memory. Errors: the file has fewer.
  void read(void* to, uint64_t count);
  /// `count` more bytes; refused without asking for memory when the file has fewer.
  std::string read(uint64_t count, const char* what);
  /// All values of a tensor that Tensor::empty made. The bytes of bools are 0 or 1.
  void read(const Tensor& x, std::string_view name);

  /// Throws unless `condition` holds; the message begins with the operation and the path.
  void require(bool condition, const auto&... parts) const {
    if (!condition) [[unlikely]]
      refuse(parts...);
  }
  /// Throws.
  [[noreturn]] void refuse(const auto&... parts) const { fail(op_, ": ", path_, ": ", parts...); }

 private:
  const char* op_;
  std::string path_;
  int fd_;
  uint64_t left_ = 0;
};

/// Writes a file so that nobody ever sees half of it: beside its place until finish() has it on the disk and
/// renames it; without finish() nothing is left. What is no file, a pipe or a device, is written as it is.
///
/// A program that is killed meanwhile leaves `.heed-<process>-<number>` beside, which disturbs nobody and
/// stays: that its process has ended cannot be known where machines share a disk.
class FileWriter {
 public:
  /// Opens a file beside the path. Errors: it cannot be written.
  FileWriter(const char* op, const std::string& path);
  ~FileWriter();  ///< Without finish() before, nothing is left.
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::string_view bytes);  ///< These bytes behind the others.
  void write(const Tensor& x);         ///< All values, in row-major order.
  void finish();                       ///< The file takes its place.

 private:
  void require(bool condition) const;

  const char* op_;
  std::string path_;
  std::string beside_;  // empty when there is nothing to rename
  int fd_ = -1;
};

/// The same in one call: a text, a page, a picture.
void write_file(const std::string& path, std::string_view contents);

/// The bytes of a tensor with elements of a size; nothing when 63 bits cannot count them, even where another
/// size is 0.
std::optional<int64_t> byte_count(const Shape& shape, int64_t element);

}  // namespace heed
