#pragma once

#include "nn/module.h"

/// Named tensors to and from a file.
namespace heed {

/// Texts about a file, by name.
using Metadata = std::map<std::string, std::string>;

/// The contents of a .safetensors file.
struct Safetensors {
  StateDict tensors;  ///< by name
  Metadata metadata;  ///< texts about them
};

/// Writes tensors by name, values only, and texts about them. The old file stays whole until the new one is.
/// A module is saved and loaded by its state dict:
///
///   save_safetensors("model.safetensors", model.state_dict());
///   model.load_state_dict(load_safetensors("model.safetensors").tensors);
///
/// Names and texts are UTF-8; no tensor is called "__metadata__".
void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata = {});

/// Reads such a file, of any origin. F32, F64, I64 and BOOL come as they are, F16 and BF16 as float32; I8,
/// I16, I32, U8, U16, U32 as int64. Refuses every other dtype and every file that breaks a rule of the
/// format, with the tensor or the byte, before it takes memory for the first tensor.
Safetensors load_safetensors(const std::string& path);

}  // namespace heed
