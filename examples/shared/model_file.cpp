#include "examples/shared/model_file.h"

#include <charconv>

namespace program {

ModelFile::ModelFile(std::string path, std::string program)
    : path_(std::move(path)), program_(std::move(program)), file_([this] {
        try {
          return heed::load_safetensors(path_);
        } catch (const heed::Error& error) {
          heed::fail(error.what(), "; ", program_, " trains a new model");
        }
      }()) {}

void ModelFile::damaged(const std::string& why) const {
  heed::fail(path_, ": is damaged: ", why, "; ", program_, " trains a new model");
}

const std::string& ModelFile::text(const std::string& name) const {
  const auto found = file_.metadata.find(name);
  heed::check(found != file_.metadata.end(), path_, ": has no \"", name,
              "\" in its metadata; it was written by another program or version; ", program_,
              " trains a new model");
  return found->second;
}

int64_t ModelFile::number(const std::string& name, int64_t least, int64_t most) const {
  const std::string& digits = text(name);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < least || value > most)
    damaged(name + " is \"" + digits + "\"; it must be from " + std::to_string(least) + " to " +
            std::to_string(most));
  return value;
}

void ModelFile::expect_weights(int64_t least) const {
  int64_t count = 0;
  for (const auto& [name, tensor] : file_.tensors) count += tensor.numel();
  heed::check(count >= least, "it has ", count, " weights; a model of its stated size has at least ", least);
}

}  // namespace program
