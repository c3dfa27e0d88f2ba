#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "nn/module.h"

/// Reference cases: what an operator or a module must give, values and gradients, as stored in tests/data.
/// HEED_PARITY_DIR names another folder with files of the same names and form. Tensors come through the
/// library's own load_safetensors, which tests/nn/files/safetensors_test.cpp holds to bytes written by hand.
namespace heed::parity {

using Json = nlohmann::json;

/// Where the cases are: HEED_PARITY_DIR, or tests/data of the source tree.
std::string folder();

/// A number as the cases write it: 2, 0.5, "inf", "-inf", "nan".
double number(const Json& value);

/// The fields of an object of a case by name. It remembers which were asked for: what nobody asks for nobody
/// knows, and must not pass unnoticed. Copies remember together.
class Fields {
 public:
  /// `what` names a field in messages: "configuration key".
  Fields(std::string what, Json object);
  /// Whether it is there and not null.
  bool has(const std::string& name) const;
  /// Its value, which must be there.
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
  /// What its text stands for; the first of the choices where it is missing.
  template <class T>
  T choice(const std::string& name, std::initializer_list<std::pair<const char*, T>> choices) const {
    const auto text = get<std::string>(name, choices.begin()->first);
    for (const auto& [known, value] : choices)
      if (text == known) return value;
    fail(what_, " ", name, ": the value ", text, " is not known");
  }
  /// Error if there is a field that nobody asked for.
  void check_all_asked() const;

 private:
  std::string what_;
  std::shared_ptr<const Json> object_;
  std::shared_ptr<std::set<std::string>> asked_ = std::make_shared<std::set<std::string>>();
};

/// The cases of one file, "ops.json", and the tensors they name.
class Cases {
 public:
  explicit Cases(const std::string& file);
  Cases(Json json, StateDict tensors);
  Json::const_iterator begin() const { return json_.at("cases").begin(); }
  Json::const_iterator end() const { return json_.at("cases").end(); }
  size_t size() const { return json_.at("cases").size(); }
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

/// What is wrong with one case, gathered line by line.
class Differences {
 public:
  Differences(const Cases& cases, const Json& one) : cases_(cases), one_(one), tolerance_(tolerance(one)) {}
  void found(const std::string& what) { text_ += "\n    " + what; }
  /// Where `got` is not the tensor that the case names.
  void compare(const std::string& what, const Tensor& got, const Json& name);
  void compare(const std::string& what, const Tensor& got, const Tensor& want);
  /// The outputs of the case, which are then differentiated, those with a cotangent together.
  void outputs(const std::vector<Tensor>& got);
  const std::string& text() const { return text_; }

 private:
  const Cases& cases_;
  const Json& one_;
  Tolerance tolerance_;
  std::string text_;
};

/// Finds what is wrong with one case, "" for nothing. Runs every case of a file: an exception is a finding,
/// and so is a tag, a dtype or a number of cases that is not as the format says.
using Run = std::function<std::string(const Json& one)>;
std::vector<std::string> findings(const Cases& cases, const Run& run);

}  // namespace heed::parity
