#pragma once

#include "tensor/error.h"
#include "tensor/memory.h"
#include "tensor/ref.h"

/// The bytes of tensors, and who wrote to them.
namespace heed {

/// The bytes that tensors share, with the record of who wrote into them last.
///
/// Note [Versions]: every write into an existing tensor (an op whose name ends in `_`, or mutable_data)
/// raises `version`. A gradient rule remembers the version of what it saved and compares when it reads it
/// back, so that an operand overwritten between forward and backward is an error and never a wrong number.
class Storage {
 public:
  /// Storage for `bytes` bytes of data, in one block with its header.
  static Ref<Storage> make(int64_t bytes);

  /// Counts a write, by the operation `op` at a line of the user's.
  void wrote(const char* op, SourceLocation line) {
    ++version;
    writer = op;
    writer_line = line;
  }
  void release() noexcept;  ///< Frees it.

  RefCount references;           ///< of bodies
  unsigned char* data;           ///< the first byte, aligned to 64
  int64_t bytes;                 ///< how many
  int64_t version = 0;           ///< how often it was written to
  const char* writer = nullptr;  ///< the operation that wrote last
  SourceLocation writer_line;    ///< where that was called

 private:
  explicit Storage(int64_t size) : bytes(size) {}
};

}  // namespace heed
