#pragma once

#include "tests/support/parity.h"

/// Runs the cases of nn.json. Tables map each `op` to code.
namespace heed::parity {

using Outputs = std::vector<Tensor>;

/// The input tensors of a case by name. An input that is never read is an error, as with Fields.
class Inputs {
 public:
  explicit Inputs(std::map<std::string, Tensor> tensors);
  /// Undefined if the case has no input of this name.
  const Tensor& operator[](const std::string& name) const;
  const std::map<std::string, Tensor>& all() const { return tensors_; }
  void check_all_asked() const { names_.check_all_asked(); }

 private:
  std::map<std::string, Tensor> tensors_;
  Fields names_;
};

/// A module, or none for a loss, and how to call it.
struct Subject {
  std::shared_ptr<Module> module;
  std::function<Outputs(const Inputs&)> call;
};
/// Builds the subject of a case from its constructor and call arguments.
using Build = std::function<Subject(const Fields& config, const Fields& call)>;
using Builds = std::map<std::string, Build>;
/// Runs a case of another form and returns its differences, or "".
using Runs =
    std::map<std::string, std::function<std::string(const Cases&, const Json& one, const Fields& fields)>>;

const Builds& layers();      // and losses
const Builds& attentions();  // and transformers, positions, kernel regression
const Builds& recurrents();
const Builds& builds();  // all of the above
const Runs& trainings();

/// The findings for the cases of nn.json, or for invented cases.
std::vector<std::string> nn_findings(const Cases& cases);

}  // namespace heed::parity
