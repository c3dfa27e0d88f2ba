#include "tests/support/parity.h"

#include <cstdlib>

#include "autograd/engine.h"
#include "nn/files/safetensors.h"
#include "tensor/kernels/elementwise.h"
#include "tests/support/program.h"

namespace heed::parity {
namespace {

template <class... Parts>
std::string join(const Parts&... parts) {
  std::string text;
  (detail::append(text, parts), ...);
  return text;
}

// The part of the error that exceeds the tolerance; 0 if there is none.
double excess(double got, double want, Tolerance tolerance) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const double beyond = std::fabs(got - want) - tolerance.absolute - tolerance.relative * std::fabs(want);
  return std::isnan(beyond) || std::isinf(want) ? INFINITY : std::max(beyond, 0.0);
}

}  // namespace

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

std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance) {
  if (!got.defined()) return "is undefined";
  if (got.dtype() != want.dtype()) return join("dtype is ", got.dtype(), " and must be ", want.dtype());
  if (got.shape() != want.shape()) return join("shape is ", got.shape(), " and must be ", want.shape());
  return visit_dtype(want.dtype(), [&]<class T>(Type<T>) {
    const std::vector<T> mine = got.to_vector<T>(), reference = want.to_vector<T>();
    int64_t wrong = 0, worst = 0;
    double most = 0;
    for (size_t i = 0; i < reference.size(); ++i) {
      double off = mine[i] != reference[i];
      if constexpr (std::is_floating_point_v<T>) off = excess(mine[i], reference[i], tolerance);
      if (off > 0) ++wrong;
      if (off > most) most = off, worst = static_cast<int64_t>(i);
    }
    if (wrong == 0) return std::string();
    const auto value = [worst](const std::vector<T>& values) {
      return static_cast<double>(values[static_cast<size_t>(worst)]);
    };
    return join(wrong, " of ", want.numel(), " differ, most at ",
                heed::detail::coordinates(worst, want.shape()), ": is ", value(mine), " and must be ",
                value(reference));
  });
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
