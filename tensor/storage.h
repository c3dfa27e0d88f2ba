#pragma once

#include "tensor/error.h"
#include "tensor/memory.h"
#include "tensor/ref.h"

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

  void wrote(const char* op, Line line) {
    ++version;
    writer = op;
    writer_line = line;
  }
  void release() noexcept;

  RefCount references;
  unsigned char* data;
  int64_t bytes;
  int64_t version = 0;
  const char* writer = nullptr;
  Line writer_line;

 private:
  explicit Storage(int64_t size) : bytes(size) {}
};

}  // namespace heed
