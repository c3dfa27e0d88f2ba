#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "examples/shared/program.h"
#include "nn/module.h"

/// Trained models as ONNX files, for other programs: `export --onnx FILE`.
namespace program {

/// A part of a model that becomes a file: what a function computes from tensors, all by name.
struct OnnxPart {
  using Function = std::function<heed::StateDict(const heed::StateDict&)>;

  std::string name;               // "encoder": in FILE_encoder.onnx; "": in FILE.onnx
  heed::StateDict inputs, other;  // of two sizes: those that differ are open
  Function compute;
};

/// The command `export` and its option --onnx.
class OnnxFiles {
 public:
  /// Adds the option and checks of it. `arguments` are those of the program, the command first.
  OnnxFiles(Program& self, const std::vector<std::string>& arguments);
  OnnxFiles(const OnnxFiles&) = delete;

  /// Whether the command is `export`.
  bool asked() const { return !arguments_.empty() && arguments_[0] == "export"; }
  /// Writes the parts of a model, all or none, and prints what goes into each and what comes out. `metadata`
  /// goes into each, such as vocabularies. Errors: a file cannot be written; an operation without a form.
  void write(const heed::Module& model, const std::vector<OnnxPart>& parts,
             const std::map<std::string, std::string>& metadata) const;

 private:
  Program& self_;
  const std::vector<std::string>& arguments_;
  std::string file_;
};

}  // namespace program
