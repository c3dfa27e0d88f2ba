#include "tests/support/parity.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>

#include "nn/safetensors.h"
#include "tensor/kernels/elementwise.h"

namespace heed::parity {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  check(file.good(), "parity: cannot open ", path, "; HEED_PARITY_DIR names the folder of the cases");
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class... Parts>
std::string join(const Parts&... parts) {
  std::string text;
  (detail::append(text, parts), ...);
  return text;
}

std::string at_position(int64_t flat, const Shape& shape) {
  Shape position = shape;
  for (int64_t d = shape.dim() - 1; d >= 0; flat /= shape[d--]) position[d] = flat % shape[d];
  return to_string(position);
}

// How far beyond its tolerance `got` is; 0 when it is within.
double excess(double got, double want, Tolerance tolerance) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : std::numeric_limits<double>::infinity();
  if (std::isinf(want)) return got == want ? 0 : std::numeric_limits<double>::infinity();
  const double allowed = tolerance.absolute + tolerance.relative * std::fabs(want);
  const double off = std::fabs(got - want);
  return off <= allowed ? 0 : std::isnan(off) ? std::numeric_limits<double>::infinity() : off - allowed;
}

}  // namespace

std::string folder() {
  const char* other = std::getenv("HEED_PARITY_DIR");
  return other && *other ? other : HEED_SOURCE_DIR "/tests/data";
}

double number(const Json& value) {
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  check(value.is_number(), "parity: ", value.dump(), " is no number");
  return value.get<double>();
}

Cases::Cases(const std::string& file)
    : json_(Json::parse(read_file(folder() + "/" + file))),
      tensors_(load_safetensors(folder() + "/" + json_.at("data").get<std::string>()).tensors) {}

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
    return join(wrong, " of ", want.numel(), " differ, most at ", at_position(worst, want.shape()), ": is ",
                value(mine), " and must be ", value(reference));
  });
}

}  // namespace heed::parity
