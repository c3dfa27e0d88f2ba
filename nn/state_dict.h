#pragma once

#include <map>

#include "tensor/tensor.h"

/// Values by name, and loading them: all or none.
namespace heed {

/// Values by name, under the names that PyTorch gives them.
using StateDict = std::map<std::string, Tensor>;

/// The names that were ignored by a load with strict = false.
struct LoadReport {
  std::vector<std::string> missing;     ///< names of the module that were not given
  std::vector<std::string> unexpected;  ///< names given that the module does not have
};

/// The second phase of loading. The first phase checks and copies everything that can fail; commit() then
/// only writes. So several parts, such as a model and its optimizer, are loaded all or none.
struct PreparedLoad {
  explicit PreparedLoad(std::function<void()> f) : write(std::move(f)) {}
  void commit() noexcept { write(); }  ///< Writes the new values. Call it once.

  std::function<void()> write;  ///< Must not throw.
};

}  // namespace heed
