#pragma once

#include "tests/parity/nn_cases.h"

namespace heed::parity {

/// The value of an expression: a tensor, a layer, several values, or a constant.
struct Value {
  Tensor tensor = {};
  std::string type = {};  // of a layer
  Subject layer = {};
  std::vector<Value> items = {};
  Json constant = {};  // an integer, true, false
};
using Names = std::map<std::string, Value>;

/// Evaluates an expression in Python syntax: "fc(rnn(emb(x)).output[:, -1])".
Value evaluate(const std::string& expression, const Names& names);

/// A model as text, as in the training cases:
///
///   emb=Embedding(11,6), rnn=GRU(6,7), fc=Linear(7,3); y = fc(rnn(emb(x)).output); loss = mse_loss(y, z)
///
/// The layers are members with these names; the other statements are forward(), which returns `loss`. A layer
/// without a name is called `model`, and its parameters have no prefix.
class Program : public Layer<Program> {
 public:
  explicit Program(const std::string& text);
  Tensor forward(const std::map<std::string, Tensor>& inputs) const;
  void visit(Visitor& v) override;

 private:
  std::vector<std::pair<std::vector<std::string>, std::string>> statements_;  // names = expression
  Names layers_;
};

}  // namespace heed::parity
