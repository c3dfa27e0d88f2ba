#include "tests/support/parity.h"

#include <cstdlib>

#include "autograd/engine.h"
#include "nn/files/safetensors.h"
#include "tensor/kernels/elementwise.h"
#include "tests/support/program.h"

namespace heed::parity {

std::string folder() {
  const char* other = std::getenv("HEED_PARITY_DIR");
  return other && *other ? other : HEED_SOURCE_DIR "/tests/data";
}

double number(const Json& value) {
  if (value == "inf") return INFINITY;
  if (value == "-inf") return -INFINITY;
  if (value == "nan") return NAN;
  check(value.is_number(), "parity: ", value.dump(), " is not a number");
  return value.get<double>();
}

Fields::Fields(std::string what, Json object)
    : what_(std::move(what)), object_(std::make_shared<const Json>(std::move(object))) {}

bool Fields::has(const std::string& name) const {
  asked_->insert(name);
  return object_->contains(name) && !(*object_)[name].is_null();
}

const Json& Fields::operator[](const std::string& name) const {
  check(has(name), what_, " ", name, " is missing");
  return (*object_)[name];
}

void Fields::check_all_asked() const {
  for (const auto& field : object_->items())
    check(asked_->contains(field.key()), what_, " ", field.key(), " is not known");
}

Cases::Cases(const std::string& file) {
  const std::string path = folder() + "/" + file;
  check(std::filesystem::exists(path), "parity: cannot open ", path,
        "; HEED_PARITY_DIR names the folder of the cases");
  json_ = Json::parse(read_file(path));
  tensors_ = load_safetensors(folder() + "/" + json_.at("data").get<std::string>()).tensors;
  check(json_.at("format") == 1 && json_.at("count") == size(), "parity: ", file, " has ", size(),
        " cases and must have ", json_.at("count").dump(), ", of format 1");
}

Cases::Cases(Json json, StateDict tensors) : json_(std::move(json)), tensors_(std::move(tensors)) {}

Tensor Cases::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  check(found != tensors_.end(), "parity: there is no tensor ", name);
  return kernel::clone(found->second);
}

Tolerance tolerance(const Json& one_case) {
  return {number(one_case.at("tol").at("rtol")), number(one_case.at("tol").at("atol"))};
}

void Differences::compare(const std::string& what, const Tensor& got, const Json& name) {
  compare(what, got, cases_.tensor(name));
}

void Differences::compare(const std::string& what, const Tensor& got, const Tensor& want) {
  const std::string text = difference(got.defined() ? got.detach() : got, want, tolerance_);
  if (!text.empty()) found(what + " " + text);
}

void Differences::outputs(const std::vector<Tensor>& got) {
  const Json& wanted = one_.at("outputs");
  check(got.size() == wanted.size(), got.size(), " outputs instead of ", wanted.size());
  std::vector<Tensor> differentiated, cotangents;
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string name = wanted[i].value("name", "output " + std::to_string(i));
    compare(name, got[i], wanted[i].at("tensor"));
    if (!wanted[i].contains("cotangent") || !got[i].requires_grad()) continue;
    differentiated.push_back(got[i]);
    cotangents.push_back(cases_.tensor(wanted[i]["cotangent"]));
  }
  if (!differentiated.empty()) backward(differentiated, {.grad_outputs = cotangents});
}

std::vector<std::string> findings(const Cases& cases, const Run& run) {
  // Tags describe a case and do not change how it runs.
  static const std::set<std::string> tags = {"bidirectional", "broadcast", "convention",
                                             "extended",      "nonfinite", "noncontiguous",
                                             "padding_idx",   "scalar0d",  "zero_size"};
  std::vector<std::string> found;
  for (const Json& one : cases) {
    std::string wrong;
    try {
      for (const std::string tag : one.at("tags")) check(tags.contains(tag), "tag ", tag, " is not known");
      const std::string dtype = one.at("dtype");
      check(dtype == "F32" || dtype == "F64" || dtype == "I64" || dtype == "BOOL", "dtype ", dtype,
            " is not known");
      wrong = run(one);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) found.push_back(one.at("id").get<std::string>() + ": " + wrong);
  }
  return found;
}

}  // namespace heed::parity
