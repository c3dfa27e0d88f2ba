#pragma once

#include <functional>

#include "autograd/ops/basic.h"
#include "nn/onnx/model.h"

/// What an ONNX operator means: a row of a table.
namespace heed::onnx {

/// One call of an operator.
struct Call {
  std::vector<Tensor> inputs;
  const std::vector<Attribute>& attributes;  ///< All that the row declares; of type undefined if missing.
  int64_t outputs;                           ///< Number of results that are needed.

  /// An input, undefined if it is not given.
  const Tensor& operator[](size_t i) const {
    static const Tensor none;
    return i < inputs.size() ? inputs[i] : none;
  }
  const Attribute& attribute(std::string_view name) const;  ///< One that the row declares.
  /// Whether an attribute is given or has a default.
  bool has(std::string_view name) const { return attribute(name).type != AttributeType::undefined; }
  ///@{
  /// The value of an attribute of this type.
  double f(std::string_view name) const { return double{attribute(name).f}; }
  int64_t i(std::string_view name) const { return attribute(name).i; }
  const std::string& s(std::string_view name) const { return attribute(name).s; }
  const std::vector<int64_t>& ints(std::string_view name) const { return attribute(name).ints; }
  ///@}
};

/// The results of a call: one tensor, or several.
struct Values : std::vector<Tensor> {
  using vector::vector;
  Values(const Tensor& x) : vector{x} {}                     ///< One tensor.
  Values(std::vector<Tensor> xs) : vector(std::move(xs)) {}  ///< Several tensors.
};
using Compute = std::function<Values(const Call&)>;  ///< Computes a call.

/// A row, such as {"LeakyRelu", 6, "X", "alpha=0.01", [](C c) { return leaky_relu(c[0], c.f("alpha")); }}.
struct Operator {
  std::string name;
  int64_t since;       ///< The first opset in which it has this meaning.
  std::string inputs;  ///< Names, "X W B?". "?" marks an optional one, "..." as many as there are.
  /// Declarations, with spaces between them:
  ///
  ///   axis=-1  alpha=0.01    a number and its default
  ///   stash_type=1=1         a number, its default, and the only one that is known
  ///   mode=constant|edge     one of these texts; the first is the default
  ///   types=[Tanh|Relu,Tanh] a list that repeats this pattern of texts
  ///   to=int  scale=float?   a type: int, float, string, tensor, ints or floats; "?" marks an optional one
  ///   dilations=ints?=1      a list in which only this number is known
  std::string attributes;
  Compute run;
  int64_t outputs = 1;  ///< The most that it has; -1: any number.
};

/// All operators by name. nn/onnx/README.md describes the tables.
const std::map<std::string, Operator>& operators();
std::vector<Operator> elementwise_operators();  ///< Functions of elements.
std::vector<Operator> shape_operators();        ///< Shapes, indices, reductions, products.
std::vector<Operator> layer_operators();        ///< Convolutions, norms, recurrent layers, attention.

/// The attributes of a node as its row declares them, with defaults. Throws for everything that the row does
/// not declare: inputs, outputs, attributes, their types and values, and the version of the opset.
std::vector<Attribute> check_node(const Operator& op, const Node& node, int64_t opset);
/// The dtype for elements of this type. Throws for types other than float, double, int32, int64 and bool. An
/// int32 is held as int64.
DType check_type(int64_t type, const std::string& what);

}  // namespace heed::onnx
