#pragma once

#include <map>
#include <memory>
#include <optional>

#include "tensor/tensor.h"

/// The contents of an ONNX file. Names are those of onnx.proto. The functions `fields` list the numbers of
/// the fields, see wire.h; fields without a number are ignored.
namespace heed::onnx {

/// Types of elements by their number in the format.
// clang-format off
enum class ElementType : int32_t {
  undefined, float32, uint8, int8, uint16, int16, int32, int64, string, boolean, float16, float64, uint32, uint64,
  complex64, complex128, bfloat16
};
// clang-format on
/// The type that stores a dtype.
ElementType element_type(DType dtype);
/// The dtype of heed that holds this type: float16 and bfloat16 become float32, integers int64. nullopt for
/// string, uint64, complex and unknown types.
std::optional<DType> dtype_of_element(ElementType type);

/// Values with a name: an initializer, or the value of an attribute.
struct Constant {
  std::string name = {};
  ElementType type = ElementType::undefined;  ///< As the file stores it; encode stores the dtype of `values`.
  Tensor values = {};                         ///< Undefined if heed has no dtype for the type.
};

/// A size: a number, a name such as "batch", or unknown (-1 and no name).
struct Size {
  int64_t value = -1;
  std::string name = {};
  void fields(auto& f) { f(1, value, name.empty() && value >= 0)(2, name); }
};
/// Sizes of all dimensions.
struct SymbolicShape : std::vector<Size> {
  void fields(auto& f) { f(1, static_cast<std::vector<Size>&>(*this)); }
};

/// An input, output or intermediate value of a graph.
struct ValueInfo {
  std::string name = {};
  ElementType type = ElementType::undefined;  ///< undefined if it is missing, or the value is no tensor.
  std::optional<SymbolicShape> shape = {};    ///< nullopt if the number of dimensions is unknown.
  void fields(auto& f) {
    const auto tensor = [&](auto& g) { g(1, type)(2, shape); };
    const auto any_type = [&](auto& g) { g(1, tensor); };
    f(1, name)(2, any_type, type != ElementType::undefined);
  }
};

/// What an attribute holds, by its number in the format.
// clang-format off
enum class AttributeType : int32_t {
  undefined, f, i, s, t, g, floats, ints, strings, tensors, graphs, sparse_tensor, sparse_tensors, type_proto, type_protos
};
// clang-format on

struct Graph;

/// A named constant of a node. The member with the name of `type` holds it; types from tensors on are not
/// read.
struct Attribute {
  std::string name = {};
  AttributeType type = AttributeType::undefined;
  float f = 0;
  int64_t i = 0;
  std::string s = {};
  Constant t = {};
  std::shared_ptr<const Graph> g = {};  ///< Null unless the type is g.
  std::vector<float> floats = {};
  std::vector<int64_t> ints = {};
  std::vector<std::string> strings = {};
  std::string ref_attr_name = {};  ///< In functions: the attribute of the caller that has the value.
  void fields(auto& h) {
    const auto is = [&](AttributeType held) { return type == held; };
    h(1, name)(20, type)(2, f, is(AttributeType::f))(3, i, is(AttributeType::i))(4, s, is(AttributeType::s));
    h(5, t, is(AttributeType::t))(6, g)(7, floats)(8, ints)(9, strings)(21, ref_attr_name);
  }
};

/// A call of an operator. An optional input that is not given has the name "".
struct Node {
  std::vector<std::string> input = {}, output = {};
  std::string name = {}, op_type = {}, domain = {};
  std::vector<Attribute> attribute = {};
  void fields(auto& f) { f(1, input)(2, output)(3, name)(4, op_type)(5, attribute)(7, domain); }
};

/// Nodes in the order of execution, and named values.
struct Graph {
  std::string name = {};
  std::vector<Node> node = {};
  std::vector<Constant> initializer = {};
  std::vector<std::string> sparse_initializer = {};  ///< Not decoded.
  std::vector<ValueInfo> input = {}, output = {}, value_info = {};
  void fields(auto& f) {
    f(1, node)(2, name)(5, initializer)(15, sparse_initializer)(11, input)(12, output)(13, value_info);
  }
};

/// An operator of the model's own.
struct Function {
  std::string name = {}, domain = {};
  std::vector<std::string> input = {}, output = {}, attribute = {};
  std::vector<Node> node = {};
  std::map<std::string, int64_t> opset_import = {};
  void fields(auto& f) {
    f(1, name)(4, input)(5, output)(6, attribute)(7, node)(9, opset_import)(10, domain);
  }
};

/// A whole file.
struct Model {
  int64_t ir_version = 0;
  std::string producer_name = {}, producer_version = {};
  std::map<std::string, int64_t> opset_import = {};  ///< Version of each domain; "" is ONNX's own.
  std::map<std::string, std::string> metadata_props = {};
  Graph graph = {};
  std::vector<Function> functions = {};
  void fields(auto& f) {
    f(1, ir_version)(2, producer_name)(3, producer_version)(7, graph)(8, opset_import)(14, metadata_props);
    f(25, functions);
  }
};

/// The bytes of a model's file. Throws if they exceed 2^31 - 1, the limit of the format, and for undefined
/// values of a constant.
std::string encode(const Model& model);
/// The model of a file. Ignores unknown fields. Throws for malformed ones, with the position of the byte, and
/// for external data; messages begin with `where`.
Model decode(std::string_view bytes, const std::string& where = "decode");

}  // namespace heed::onnx
