#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "autograd/grad_mode.h"
#include "nn/files/safetensors.h"
#include "nn/module.h"

/// Trained models: their files, and asking them.
namespace program {

/// A .safetensors file that a program left for itself: weights, and in the metadata what they are weights of.
class ModelFile {
 public:
  /// Errors: it cannot be read, or is damaged; `program` says how to make another.
  ModelFile(std::string path, std::string program);

  /// What was written under this name. Errors: there is nothing.
  const std::string& text(const std::string& name) const;
  /// The same as a whole number from `least` to `most`. Errors: it is none.
  int64_t number(const std::string& name, int64_t least, int64_t most) const;
  /// Calls `make`, and tells of what it throws as a damaged file.
  template <class F>
  auto made(F&& make) const {
    try {
      return make();
    } catch (const heed::Error& error) {
      damaged(error.what());
    }
  }
  /// For `make`, before it takes the memory of a model that has at least so many weights. Errors: there are
  /// fewer.
  void expect_weights(int64_t least) const;

  const heed::StateDict& tensors() const { return file_.tensors; }

 private:
  [[noreturn]] void damaged(const std::string& why) const;

  std::string path_, program_;
  heed::Safetensors file_;
};

/// While it exists the modules are in evaluation and nothing is recorded.
class Asking {
 public:
  explicit Asking(heed::Module& module) : Asking(std::vector{&module}) {}
  explicit Asking(const std::vector<heed::Module*>& modules) {
    for (heed::Module* module : modules) {
      before_.emplace_back(module, module->training());
      module->eval();
    }
  }
  ~Asking() {
    for (const auto& [module, training] : before_) module->train(training);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  std::vector<std::pair<heed::Module*, bool>> before_;  // and whether it was training
  heed::NoGrad guard_;
};

}  // namespace program
