#include "examples/shared/onnx_files.h"

#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "heed/onnx.h"

using namespace heed;
namespace fs = std::filesystem;

namespace program {
namespace {

std::vector<std::string> names_of(const StateDict& all) {
  std::vector<std::string> names;
  for (const auto& [name, x] : all) names.push_back(name);
  return names;
}

OnnxTensors tensors_of(const StateDict& all) {
  OnnxTensors tensors;
  for (const auto& [name, x] : all) tensors.push_back(x);
  return tensors;
}

// A hidden folder in another one, with numbered files.
class Scratch {
 public:
  explicit Scratch(const fs::path& parent) : path_(parent / ".heed-XXXXXX") {
    check(mkdtemp(path_.data()) != nullptr, parent.string(), ": cannot be written");
  }
  ~Scratch() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  Scratch(const Scratch&) = delete;
  std::string file(size_t i) const { return path_ + "/" + std::to_string(i); }

 private:
  std::string path_;
};

// Writes a part. Returns the names of its outputs.
std::vector<std::string> save_part(const std::string& path, const Module& model, const OnnxPart& part,
                                   const std::map<std::string, std::string>& metadata) {
  OnnxOptions options{.other = tensors_of(part.other), .inputs = names_of(part.inputs), .metadata = metadata};
  const auto forward = [&](const OnnxTensors& in) {
    StateDict inputs;
    for (size_t i = 0; i < in.size(); ++i) inputs[options.inputs[i]] = in[i];
    const StateDict outputs = part.compute(inputs);
    options.outputs = names_of(outputs);  // which save_onnx reads after the last call
    return tensors_of(outputs);
  };
  save_onnx(path, model, tensors_of(part.inputs), forward, options);
  return options.outputs;
}

}  // namespace

OnnxFiles::OnnxFiles(Program& self, const std::vector<std::string>& arguments)
    : self_(self), arguments_(arguments) {
  self.option("--onnx", file_, "export: the file for the model, with the ending .onnx");
  self.require([this] {
    if (!asked()) return self_.refuse({"--onnx"}, "is for the command export");
    check(arguments_.size() == 1, "export takes no word; --onnx names the file");
    check(!file_.empty(), "export: name the file for the model by --onnx FILE.onnx");
    check(file_.ends_with(".onnx"), "--onnx is ", file_, "; the name must end in .onnx");
    self_.only_read();
  });
}

void OnnxFiles::write(const Module& model, const std::vector<OnnxPart>& parts,
                      const std::map<std::string, std::string>& metadata) const {
  const std::string stem = file_.substr(0, file_.size() - 5);
  std::vector<std::string> paths;
  for (const OnnxPart& part : parts) {
    paths.push_back(stem + (part.name.empty() ? "" : "_" + part.name) + ".onnx");
    check_place(paths.back(), false);
  }
  const Scratch complete(fs::absolute(stem).parent_path());  // until all files are
  std::string table;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto outputs = save_part(complete.file(i), model, parts[i], metadata);
    table +=
        paths[i] + ": " + detail::listed(names_of(parts[i].inputs)) + " → " + detail::listed(outputs) + "\n";
  }
  for (size_t i = 0; i < parts.size(); ++i) fs::rename(complete.file(i), paths[i]);
  self_.text() << table;
  self_.result("files", paths);
}

}  // namespace program
