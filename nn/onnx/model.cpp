#include "nn/onnx/model.h"

#include "nn/files/file.h"
#include "nn/onnx/wire.h"
#include "tensor/utf8.h"

namespace heed::onnx {
namespace {

// How files store elements of this type, or null.
const StoredType* stored_type(ElementType type) {
  for (const StoredType& stored : stored_types)
    if (stored.onnx == static_cast<int32_t>(type)) return &stored;
  return nullptr;
}

// A TensorProto.
struct StoredTensor {
  std::vector<int64_t> dims, integers;
  ElementType type = ElementType::undefined;
  std::string name, raw, singles, reals;
  int64_t location = 0;  // 1: in another file
};

// The values of a tensor that begins at f, undefined if heed has no dtype for them.
Tensor values_of(StoredTensor& x, const wire::Reader& f) {
  const auto require = [&](bool condition, const auto&... what) {
    f.require(condition, "tensor \"", printable(x.name), "\" ", what...);
  };
  require(x.location == 0, "is in another file; save the model with its data inside");
  const StoredType* type = stored_type(x.type);
  if (!type) return {};
  std::string& bytes = x.raw;
  bytes += x.singles + x.reals;
  if (x.type != ElementType::float32 && x.type != ElementType::float64)  // small types and float16 as numbers
    for (const int64_t value : x.integers) bytes.append(reinterpret_cast<const char*>(&value), type->size);
  require(x.dims.size() <= Shape::kMaxDim, "has ", x.dims.size(), " dimensions; at most ", Shape::kMaxDim,
          " are possible");
  const Shape shape(x.dims);
  require(std::ranges::all_of(x.dims, [](int64_t size) { return size >= 0; }) &&
              byte_count(shape, type->size) == bytes.size(),
          "has the shape ", shape, " and ", bytes.size() / type->size, " values");
  require(type->dtype != boolean || bytes.find_first_not_of(std::string_view("\0\1", 2)) == bytes.npos,
          "has a bool that is neither 0 nor 1");
  Tensor values = Tensor::empty(shape, type->dtype);
  type->convert(bytes.data(), static_cast<uint64_t>(values.numel()), TensorImpl::of(values).storage->data);
  return values;
}

}  // namespace

// The fields of each message: see wire.h. Those that are missing here are ignored in files.

static void fields(wire::Writer& f, Constant& x) {
  check(x.values.defined(), "encode: the constant \"", printable(x.name), "\" has no values");
  const Shape& shape = x.values.shape();
  const ElementType type = element_type(x.values.dtype());
  f(1, std::vector(shape.begin(), shape.end()))(2, type)(8, x.name)(9, raw_bytes(x.values));
}
static void read(wire::Reader f, Constant& x) {
  const wire::Reader start = f;
  StoredTensor y;
  f.message([&](wire::Reader& g) {
    g(1, y.dims)(2, y.type)(8, y.name)(14, y.location)(5, y.integers)(7, y.integers)(11, y.integers);
    g(9, y.raw)(4, y.singles)(10, y.reals);  // a packed list has the bytes of its numbers
  });
  x = {y.name, y.type, values_of(y, start)};
}
void fields(auto& f, Size& x) { f(1, x.value, x.name.empty() && x.value >= 0)(2, x.name); }
void fields(auto& f, SymbolicShape& x) { f(1, static_cast<std::vector<Size>&>(x)); }
void fields(auto& f, ValueInfo& x) {
  const auto tensor = [&](auto& g) { g(1, x.type)(2, x.shape); };
  const auto type = [&](auto& g) { g(1, tensor); };
  f(1, x.name)(2, type, x.type != ElementType::undefined);
}
void fields(auto& f, Attribute& x) {
  f(1, x.name)(20, x.type)(21, x.ref_attr_name)(6, x.g)(7, x.floats)(8, x.ints)(9, x.strings);
  f(2, x.f, x.type == AttributeType::f)(3, x.i, x.type == AttributeType::i);
  f(4, x.s, x.type == AttributeType::s)(5, x.t, x.type == AttributeType::t);
}
void fields(auto& f, Node& x) {
  f(1, x.input)(2, x.output)(3, x.name)(4, x.op_type)(5, x.attribute)(7, x.domain);
}
void fields(auto& f, Graph& x) {
  f(1, x.node)(2, x.name)(5, x.initializer)(11, x.input)(12, x.output)(13, x.value_info);
  f(15, x.sparse_initializer);
}
void fields(auto& f, Function& x) {
  f(1, x.name)(4, x.input)(5, x.output)(6, x.attribute)(7, x.node)(9, x.opset_import)(10, x.domain);
}
void fields(auto& f, Model& x) {
  f(1, x.ir_version)(2, x.producer_name)(3, x.producer_version)(7, x.graph)(8, x.opset_import);
  f(14, x.metadata_props)(25, x.functions);
}

ElementType element_type(DType dtype) {
  return static_cast<ElementType>(stored_types[static_cast<size_t>(dtype)].onnx);
}

std::optional<DType> dtype_of_element(ElementType type) {
  const StoredType* stored = stored_type(type);
  return stored ? std::optional(stored->dtype) : std::nullopt;
}

std::string encode(const Model& model) {
  wire::Writer f;
  fields(f, const_cast<Model&>(model));  // which only reads it
  check(f.bytes.size() <= INT32_MAX, "encode: the model takes ", f.bytes.size(),
        " bytes, and a file of ONNX at most ", INT32_MAX);
  return std::move(f.bytes);
}

Model decode(std::string_view bytes, const std::string& where) {
  Model model;
  wire::read(wire::Reader(bytes, where), model);
  return model;
}

}  // namespace heed::onnx
