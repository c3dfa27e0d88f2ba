#pragma once

#include <nlohmann/json.hpp>
#include <set>

#include "nn/module.h"
#include "tests/support/difference.h"

/// Reference cases in tests/data: expected values and gradients of operators and modules. HEED_PARITY_DIR
/// names another folder with files of the same names and format. Tensors are read by the library's own
/// load_safetensors, which tests/nn/files/safetensors_test.cpp checks against bytes written by hand.
namespace heed::parity {

using Json = nlohmann::json;

/// The folder of the cases: HEED_PARITY_DIR, or tests/data of the source tree.
std::string folder();

/// Reads a number of a case: 2, 0.5, "inf", "-inf", "nan".
double number(const Json& value);

/// The fields of a JSON object of a case. Records which fields were read, so that a field which the driver
/// does not know is an error. Copies share this record.
class Fields {
 public:
  /// `what` names a field in messages: "configuration key".
  Fields(std::string what, Json object);
  /// Whether the field exists and is not null.
  bool has(const std::string& name) const;
  /// The value of a field that must exist.
  const Json& operator[](const std::string& name) const;
  template <class T>
  T get(const std::string& name, T otherwise) const {
    if (!has(name)) return otherwise;
    if constexpr (std::is_same_v<T, double>)
      return number((*this)[name]);
    else
      return (*this)[name].get<T>();
  }
  template <class T>
  std::optional<T> optional(const std::string& name) const {
    return has(name) ? std::optional((*this)[name].get<T>()) : std::nullopt;
  }
  /// The value for the text of the field; the first of the choices if it is missing.
  template <class T>
  T choice(const std::string& name, std::initializer_list<std::pair<const char*, T>> choices) const {
    const auto text = get<std::string>(name, choices.begin()->first);
    for (const auto& [known, value] : choices)
      if (text == known) return value;
    fail(what_, " ", name, ": the value ", text, " is not known");
  }
  /// Throws if there is a field that was never read.
  void check_all_asked() const;

 private:
  std::string what_;
  std::shared_ptr<const Json> object_;
  std::shared_ptr<std::set<std::string>> asked_ = std::make_shared<std::set<std::string>>();
};

/// The cases of one file, such as "ops.json", and their tensors.
class Cases {
 public:
  explicit Cases(const std::string& file);
  Cases(Json json, StateDict tensors);
  Json::const_iterator begin() const { return json_.at("cases").begin(); }
  Json::const_iterator end() const { return json_.at("cases").end(); }
  size_t size() const { return json_.at("cases").size(); }
  /// Returns a copy, so that cases do not see each other's writes.
  Tensor tensor(const std::string& name) const;

 private:
  Json json_;
  StateDict tensors_;
};

/// The tolerance of a case.
Tolerance tolerance(const Json& one_case);

/// Collects the differences of one case, one a line.
class Differences {
 public:
  Differences(const Cases& cases, const Json& one) : cases_(cases), one_(one), tolerance_(tolerance(one)) {}
  void found(const std::string& what) { text_ += "\n    " + what; }
  /// Adds a difference if `got` is not the tensor that the case names.
  void compare(const std::string& what, const Tensor& got, const Json& name);
  void compare(const std::string& what, const Tensor& got, const Tensor& want);
  /// Compares the outputs of the case, then runs one backward pass from all that have a cotangent.
  void outputs(const std::vector<Tensor>& got);
  const std::string& text() const { return text_; }

 private:
  const Cases& cases_;
  const Json& one_;
  Tolerance tolerance_;
  std::string text_;
};

/// Runs one case and returns its differences, or "". findings() runs every case of a file; an exception, an
/// unknown tag or an unknown dtype is a finding.
using Run = std::function<std::string(const Json& one)>;
std::vector<std::string> findings(const Cases& cases, const Run& run);

}  // namespace heed::parity
