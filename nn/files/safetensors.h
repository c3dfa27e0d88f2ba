#pragma once

#include "nn/state_dict.h"

/// Named tensors in .safetensors files.
namespace heed {

/// Texts about a file, by name.
using Metadata = std::map<std::string, std::string>;

/// The contents of a .safetensors file.
struct Safetensors {
  StateDict tensors;
  Metadata metadata;
};

/// Writes tensors by name, without gradients, and texts about them. An existing file is replaced when the new
/// one is complete. A module is saved and loaded by its state dict:
///
///   save_safetensors("model.safetensors", model.state_dict());
///   model.load_state_dict(load_safetensors("model.safetensors").tensors);
///
/// Throws for names and texts that are not UTF-8, and for a tensor called "__metadata__".
void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata = {});

/// Reads a .safetensors file of any origin. F32, F64, I64 and BOOL keep their dtype; F16 and BF16 become
/// float32; I8, I16, I32, U8, U16 and U32 become int64. Throws for other dtypes and for every file that
/// breaks a rule of the format, before it allocates the first tensor; the message names the tensor or the
/// byte.
Safetensors load_safetensors(const std::string& path);

/// Reads only the texts. Checks the JSON of the header, and no tensor.
Metadata load_metadata(const std::string& path);

}  // namespace heed
