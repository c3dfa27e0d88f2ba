#pragma once

#include <cstdint>
#include <string>

#include "nn/files/safetensors.h"

/// Files of trained models.
namespace program {

/// A .safetensors file that a program wrote for itself: the weights, and metadata that describes the model.
class ModelFile {
 public:
  /// Throws if the file cannot be read or is damaged; the message names `program` as what trains a new model.
  ModelFile(std::string path, std::string program);

  /// The metadata under this name. Throws if there is none.
  const std::string& text(const std::string& name) const;
  /// The same as a whole number. Throws if it is not one from `least` to `most`.
  int64_t number(const std::string& name, int64_t least, int64_t most) const;
  /// Returns make(). If it throws an Error, throws that the file is damaged.
  template <class F>
  auto made(F&& make) const {
    try {
      return make();
    } catch (const heed::Error& error) {
      damaged(error.what());
    }
  }
  /// Throws if there are fewer weights. Called before the memory of a model of this size is allocated.
  void expect_weights(int64_t least) const;

  const heed::StateDict& tensors() const { return file_.tensors; }

 private:
  [[noreturn]] void damaged(const std::string& why) const;

  std::string path_, program_;
  heed::Safetensors file_;
};

}  // namespace program
