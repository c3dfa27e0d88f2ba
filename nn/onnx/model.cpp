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

}  // namespace

static void fields(wire::Writer& f, Constant& x) {
  check(x.values.defined(), "encode: the constant \"", printable(x.name), "\" has no values");
  const Shape& shape = x.values.shape();
  const ElementType type = element_type(x.values.dtype());
  f(1, std::vector(shape.begin(), shape.end()))(2, type)(8, x.name)(9, raw_bytes(x.values));
}
static void read(wire::Reader f, Constant& x) {
  const wire::Reader start = f;
  std::vector<int64_t> dims, integers;
  std::string bytes, singles, reals;
  int64_t location = 0;  // 1: in another file
  f.message([&](wire::Reader& g) {
    g(1, dims)(2, x.type)(8, x.name)(14, location)(5, integers)(7, integers)(11, integers);
    g(9, bytes)(4, singles)(10, reals);  // a packed list has the bytes of its numbers
  });
  const auto require = [&](bool condition, const auto&... what) {
    start.require(condition, "tensor \"", printable(x.name), "\" ", what...);
  };
  require(location == 0, "is in another file; save the model with its data inside");
  const StoredType* type = stored_type(x.type);
  if (!type) return;
  bytes += singles + reals;
  if (x.type != ElementType::float32 && x.type != ElementType::float64)  // small types and float16 as numbers
    for (const int64_t value : integers) bytes.append(reinterpret_cast<const char*>(&value), type->size);
  require(dims.size() <= Shape::kMaxDim, "has ", dims.size(), " dimensions; at most ", Shape::kMaxDim,
          " are possible");
  const Shape shape(dims);
  const bool fits = std::ranges::all_of(dims, [](int64_t size) { return size >= 0; }) &&
                    byte_count(shape, type->size) == bytes.size();
  require(fits, "has the shape ", shape, " and ", bytes.size() / type->size, " values");
  require(type->dtype != boolean || bytes.find_first_not_of(std::string_view("\0\1", 2)) == bytes.npos,
          "has a bool that is neither 0 nor 1");
  x.values = Tensor::empty(shape, type->dtype);
  type->convert(bytes.data(), static_cast<uint64_t>(x.values.numel()),
                TensorImpl::of(x.values).storage->data);
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
  const_cast<Model&>(model).fields(f);  // which only reads it
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
