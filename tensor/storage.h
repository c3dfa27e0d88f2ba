#pragma once

#include "tensor/error.h"
#include "tensor/memory.h"
#include "tensor/ref.h"

/// The memory of tensors.
namespace heed {

/// Memory that tensors share, with a version counter and the last writer.
///
/// Note [Versions]: every write to an existing tensor (an operation whose name ends in `_`, or mutable_data)
/// increments `version`. A gradient rule stores the version of what it saved and compares it when it reads
/// the tensor, so an operand overwritten between forward and backward throws instead of giving wrong numbers.
class Storage {
 public:
  /// Allocates the object and its `bytes` bytes of data in one block.
  static Ref<Storage> make(int64_t bytes);

  /// Counts a write by the operation `op`, called at this line.
  void wrote(const char* op, SourceLocation line) {
    ++version;
    writer = op;
    writer_line = line;
    derived = nullptr;
  }
  void release() noexcept;  ///< Frees it.

  RefCount references;
  unsigned char* data;  ///< Aligned to 64 bytes.
  int64_t bytes;
  int64_t version = 0;           ///< Number of writes.
  const char* writer = nullptr;  ///< Name of the operation that wrote last.
  SourceLocation writer_line;
  std::shared_ptr<void> derived;  ///< Computed from the values, until the next write: transposed_weights.h.

 private:
  explicit Storage(int64_t size) : bytes(size) {}
};

}  // namespace heed
