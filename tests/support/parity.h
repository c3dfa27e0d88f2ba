#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "nn/module.h"

/// Reference cases: what an operator or a module must give, values and gradients, as stored in tests/data.
/// HEED_PARITY_DIR names another folder with files of the same names and form. Tensors come through the
/// library's own load_safetensors, which tests/nn/safetensors_test.cpp holds to bytes written by hand.
namespace heed::parity {

using Json = nlohmann::json;

/// Where the cases are: HEED_PARITY_DIR, or tests/data of the source tree.
std::string folder();

/// A number as the cases write it: 2, 0.5, "inf", "-inf", "nan".
double number(const Json& value);

/// The cases of one file, "ops.json", and the tensors they name.
class Cases {
 public:
  explicit Cases(const std::string& file);
  Json::const_iterator begin() const { return json_.at("cases").begin(); }
  Json::const_iterator end() const { return json_.at("cases").end(); }
  /// A fresh copy, so that no case sees what another one wrote.
  Tensor tensor(const std::string& name) const;

 private:
  Json json_;
  StateDict tensors_;
};

/// How far a floating result may be off: |got - want| <= absolute + relative |want|.
struct Tolerance {
  double relative = 0, absolute = 0;
};
/// The tolerance of a case.
Tolerance tolerance(const Json& one_case);

/// "" when `got` is `want`; else what differs: dtype, shape, or the number of wrong elements and the worst.
/// NaN equals NaN, an infinity only itself; integers and bools must be equal.
std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance);

}  // namespace heed::parity
