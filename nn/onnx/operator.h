#pragma once

#include <functional>
#include <map>

#include "autograd/ops/basic.h"
#include "nn/onnx/model.h"

/// What an ONNX operator means: a row of a table.
namespace heed::onnx {

using X = const Tensor&;              ///< An argument of most operators.
using Tensors = std::vector<Tensor>;  ///< Any number of arguments, or several results.
using Ints = std::vector<int64_t>;    ///< Such as axes.

/// A vector of these numbers.
Tensor list(const auto& numbers) { return from_vector(numbers, {std::ssize(numbers)}); }
/// The numbers of a list such as a shape or axes; none if it is undefined.
Ints int_list(X x);

/// An argument as the parameter of a function; T() if it is not given.
template <class T>
T parameter(X x) {
  constexpr bool optional = std::is_constructible_v<T, std::nullopt_t>;
  if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Operand>) return x;
  if constexpr (optional) return x.defined() ? T(parameter<typename T::value_type>(x)) : T();
  if constexpr (std::is_arithmetic_v<T>) return x.defined() ? x.item<T>() : T();
  if constexpr (std::is_same_v<T, Scalar>)
    return x.defined() && is_floating(x.dtype()) ? Scalar(x.item()) : Scalar(parameter<int64_t>(x));
  if constexpr (std::is_enum_v<T> || std::is_same_v<T, Dim>) return static_cast<T>(parameter<int64_t>(x));
  if constexpr (!optional && std::is_constructible_v<T, Ints>) return T(int_list(x));
}

/// One call of an operator.
struct Call {
  const Tensors& arguments;  ///< Inputs and attributes; undefined if not given.
  int64_t outputs;           ///< Number of results that are needed.
  size_t next = 0;           ///< The first argument that was not taken.

  /// Takes the next argument, or all others as Tensors. A type that is constructed from a Call takes its
  /// arguments itself.
  template <class T>
  T take() {
    static const Tensor none;
    constexpr bool by_itself = std::is_constructible_v<T, Call&>, all = std::is_same_v<T, Tensors>;
    if constexpr (by_itself) return T(*this);
    if constexpr (all) return {arguments.begin() + static_cast<std::ptrdiff_t>(next), arguments.end()};
    if constexpr (!by_itself && !all) return parameter<T>(next < arguments.size() ? arguments[next++] : none);
  }
};

/// Computes a call by a function of its arguments, which may have fewer parameters, and returns one tensor or
/// a vector of several.
struct Compute : std::function<Tensors(Call)> {
  template <class Result, class... Parameters>
  Compute(Result (*f)(Parameters...))
      : function([f](Call call) -> Tensors {
          return {std::apply(f, std::tuple{call.take<std::decay_t<Parameters>>()...})};
        }) {}
  Compute(auto f) : Compute(+f) {}  ///< A lambda without captures.
};

/// A row, such as {"LeakyRelu", 6, "X alpha=0.01", leaky_relu}.
struct Operator {
  std::string name;
  int64_t since;  ///< The first opset in which it has this meaning.
  /// Declarations in the order of the function's parameters, with spaces between them. An input has a name,
  /// and "?" if it is optional, or "..." if there are any number:
  ///
  ///   X  B?  X...
  ///
  /// An attribute is a tensor too. A text is its position among those that are known, or the codes of its
  /// characters.
  ///
  ///   axis=-1  alpha=0.01        a number and its default
  ///   mode=constant|edge         one of these texts; the first is the default
  ///   types=Tanh|Relu,Tanh       a list that repeats this pattern of texts
  ///   to=int  scale?=float       int, float, string, tensor, ints or floats; "?" if it is optional
  ///   kernel_shape=one_or_two    one or two ints
  ///   layout=0=0  pads?=ints=1   the only number that is known
  std::string arguments;
  Compute run;
  int64_t outputs = 1;  ///< The most that it has; -1: any number.
};

/// All operators by name. nn/onnx/README.md describes the tables.
const std::map<std::string, Operator>& operators();
std::vector<Operator> elementwise_operators();  ///< Functions of elements.
std::vector<Operator> shape_operators();        ///< Shapes, indices, reductions, products.
std::vector<Operator> layer_operators();        ///< Convolutions, norms, recurrent layers, attention.

/// An argument of a node: the name of an input, or else the value of an attribute.
struct Argument {
  std::string input;
  Tensor value;
};
/// The arguments of a node as its row declares them, with defaults. Throws for everything that the row does
/// not declare: inputs, outputs, attributes, their types and values, and the version of the opset.
std::vector<Argument> check_node(const Operator& op, const Node& node, int64_t opset);
/// The dtype for elements of this type. Throws for types other than float, double, int32, int64 and bool. An
/// int32 is held as int64.
DType check_type(int64_t type, const std::string& what);

}  // namespace heed::onnx
