#pragma once

#include <functional>
#include <map>

#include "autograd/ops/basic.h"
#include "nn/onnx/model.h"

/// What an ONNX operator means: a row of a table.
namespace heed::onnx {

/// A vector of these numbers.
Tensor list(const auto& numbers) { return from_vector(numbers, {std::ssize(numbers)}); }
/// The numbers of a list such as a shape or axes; none if it is undefined.
std::vector<int64_t> int_list(const Tensor& x);
/// The number of a tensor with one element; 0 if it is undefined.
Scalar number(const Tensor& x);

/// An argument as the parameter of a function; T() if it is not given.
template <class T>
T parameter(const Tensor& x) {
  if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Operand>)
    return x;
  else if constexpr (std::is_constructible_v<T, std::nullopt_t>)
    return x.defined() ? T(parameter<typename T::value_type>(x)) : T();
  else if constexpr (std::is_arithmetic_v<T>)
    return x.defined() ? x.item<T>() : T();
  else if constexpr (std::is_enum_v<T> || std::is_same_v<T, Dim>)
    return static_cast<T>(parameter<int64_t>(x));
  else if constexpr (std::is_same_v<T, Scalar>)
    return number(x);
  else
    return T(int_list(x));
}

/// One call of an operator.
struct Call {
  const std::vector<Tensor>& arguments;  ///< Inputs and attributes; undefined if not given.
  int64_t outputs;                       ///< Number of results that are needed.
  size_t next = 0;                       ///< The first argument that was not taken.

  /// Takes the next argument, or all others as std::vector<Tensor>. A type that is constructed from a Call
  /// takes its arguments itself.
  template <class T>
  T take() {
    static const Tensor none;
    if constexpr (std::is_same_v<T, std::vector<Tensor>>)
      return {arguments.begin() + static_cast<std::ptrdiff_t>(next), arguments.end()};
    else if constexpr (std::is_constructible_v<T, Call&>)
      return T(*this);
    else
      return parameter<T>(next < arguments.size() ? arguments[next++] : none);
  }
};

/// A row, such as {"LeakyRelu", 6, "X alpha=0.01", leaky_relu}.
struct Operator {
  /// f(arguments...) returns one tensor, or a vector of several. It may have fewer parameters than there are
  /// arguments.
  template <class F>
  Operator(const char* its_name, int64_t its_since, std::string declared, F f, int64_t most_outputs = 1)
      : name(its_name),
        since(its_since),
        arguments(std::move(declared)),
        run(calling(+f)),
        outputs(most_outputs) {}

  std::string name;
  int64_t since;  ///< The first opset in which it has this meaning.
  /// Declarations, with spaces between them. Inputs are declared by their names:
  ///
  ///   X  B?  X...            "?" marks an optional one, "..." as many as there are
  ///
  /// Attributes are tensors too. A text is its position among those that are known, or the codes of its
  /// characters.
  ///
  ///   axis=-1  alpha=0.01    a number and its default
  ///   stash_type=1=1         a number, its default, and the only one that is known
  ///   mode=constant|edge     one of these texts; the first is the default
  ///   types=[Tanh|Relu,Tanh] a list that repeats this pattern of texts
  ///   to=int  scale=float?   a type: int, float, string, tensor, ints or floats; "?" marks an optional one
  ///   strides=ints?1=2       its default, and the only number that is known
  ///   axes?=ints             an input that may be an attribute instead
  std::string arguments;
  std::function<std::vector<Tensor>(Call)> run;
  int64_t outputs;  ///< The most that it has; -1: any number.

 private:
  template <class Result, class... Parameters>
  static auto calling(Result (*f)(Parameters...)) {
    return [f](Call call) -> std::vector<Tensor> {
      return {
          std::apply(f, std::tuple<std::decay_t<Parameters>...>{call.take<std::decay_t<Parameters>>()...})};
    };
  }
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
