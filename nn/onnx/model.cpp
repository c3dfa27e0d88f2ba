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
  std::string name = {}, raw = {}, singles = {}, reals = {};
  int64_t location = 0;  // 1: in another file
};

// The values of a tensor, undefined if heed has no dtype for them.
Tensor values_of(StoredTensor& x, const wire::Reader& f) {
  const std::string tensor = "tensor \"" + printable(x.name) + "\"";
  f.require(x.location == 0, tensor, " is in another file; save the model with its data inside");
  const StoredType* type = stored_type(x.type);
  if (!type) return {};
  x.raw += x.singles + x.reals;
  if (x.type != ElementType::float32 && x.type != ElementType::float64)  // small types and float16 as numbers
    for (const int64_t value : x.integers) x.raw.append(reinterpret_cast<const char*>(&value), type->size);
  f.require(x.dims.size() <= Shape::kMaxDim, tensor, " has ", x.dims.size(), " dimensions; at most ",
            Shape::kMaxDim, " are possible");
  const Shape shape(x.dims);
  for (const int64_t size : shape) f.require(size >= 0, tensor, " has the shape ", shape);
  f.require(byte_count(shape, type->size) == x.raw.size(), tensor, " has the shape ", shape, " and ",
            x.raw.size() / type->size, " values");
  f.require(
      type->dtype != boolean || x.raw.find_first_not_of(std::string_view("\0\1", 2)) == std::string::npos,
      tensor, " has a bool that is neither 0 nor 1");
  Tensor values = Tensor::empty(shape, type->dtype);
  type->convert(x.raw.data(), static_cast<uint64_t>(values.numel()), TensorImpl::of(values).storage->data);
  return values;
}

}  // namespace

// The fields of each message: see wire.h. Those that are missing here are ignored in files.

// Values are bytes, or in a list of their type. A packed list of floats or doubles has the same bytes.
void fields(auto& f, StoredTensor& x) {
  f(1, x.dims), f(2, x.type), f(8, x.name), f(14, x.location);
  f(9, x.raw), f(4, x.singles, false), f(10, x.reals, false);
  f(5, x.integers), f(7, x.integers), f(11, x.integers);
}

static void fields(wire::Writer& f, Constant& x) {
  check(x.values.defined(), "encode: the constant \"", printable(x.name), "\" has no values");
  const Shape& shape = x.values.shape();
  StoredTensor stored{
      {shape.begin(), shape.end()}, {}, element_type(x.values.dtype()), x.name, raw_bytes(x.values)};
  fields(f, stored);
}
static void read(wire::Reader f, Constant& x) {
  const wire::Reader start = f;
  StoredTensor stored;
  f.message([&](wire::Reader& g) { fields(g, stored); });
  x = {stored.name, stored.type, values_of(stored, start)};
}

void fields(auto& f, Size& x) { f(1, x.value, x.name.empty() && x.value >= 0), f(2, x.name); }
void fields(auto& f, SymbolicShape& x) { f(1, static_cast<std::vector<Size>&>(x)); }
void fields(auto& f, ValueInfo& x) {
  f(1, x.name);
  const auto tensor = [&](auto& g) { g(1, x.type), g(2, x.shape); };
  f.inside(
      2, [&](auto& type) { type.inside(1, tensor); }, x.type != ElementType::undefined);
}
void fields(auto& f, Attribute& x) {
  f(1, x.name), f(20, x.type), f(21, x.ref_attr_name);
  f(2, x.f, x.type == AttributeType::f), f(3, x.i, x.type == AttributeType::i);
  f(4, x.s, x.type == AttributeType::s), f(5, x.t, x.type == AttributeType::t);
  f(6, x.g), f(7, x.floats), f(8, x.ints), f(9, x.strings);
}
void fields(auto& f, Node& x) {
  f(1, x.input), f(2, x.output), f(3, x.name), f(4, x.op_type), f(5, x.attribute), f(7, x.domain);
}
void fields(auto& f, Graph& x) {
  f(1, x.node), f(2, x.name), f(5, x.initializer), f(11, x.input), f(12, x.output), f(13, x.value_info);
  f(15, x.sparse_initializer);
}
void fields(auto& f, Function& x) {
  f(1, x.name), f(4, x.input), f(5, x.output), f(6, x.attribute), f(7, x.node), f(9, x.opset_import);
  f(10, x.domain);
}
void fields(auto& f, Model& x) {
  f(1, x.ir_version), f(2, x.producer_name), f(3, x.producer_version), f(7, x.graph), f(8, x.opset_import);
  f(14, x.metadata_props), f(25, x.functions);
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
  wire::Reader(bytes, where).message([&](wire::Reader& f) { fields(f, model); });
  return model;
}

}  // namespace heed::onnx
