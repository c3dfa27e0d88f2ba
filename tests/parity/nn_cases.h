#pragma once

#include <map>

#include "tests/support/parity.h"

/// How the cases of nn.json are run: tables say for each `op` what it stands for.
namespace heed::parity {

using Outputs = std::vector<Tensor>;

/// The input tensors of a case by name. One that nobody asks for is a fault, as with Fields.
class Inputs {
 public:
  explicit Inputs(std::map<std::string, Tensor> tensors);
  /// Undefined where the case has none of the name.
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
/// Builds what a case is about from its constructor and its call arguments.
using Build = std::function<Subject(const Fields& config, const Fields& call)>;
using Builds = std::map<std::string, Build>;
/// Runs a case of another form and says what is wrong with it, "" for nothing.
using Runs =
    std::map<std::string, std::function<std::string(const Cases&, const Json& one, const Fields& fields)>>;

const Builds& layers();      // and losses
const Builds& attentions();  // and transformers, positions, kernel regression
const Builds& recurrents();
const Builds& builds();  // all of the above
const Runs& trainings();

/// What is wrong with the cases of nn.json, or of invented ones.
std::vector<std::string> nn_findings(const Cases& cases);

}  // namespace heed::parity
