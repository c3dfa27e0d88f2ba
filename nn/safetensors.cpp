#include "nn/safetensors.h"

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "nn/file.h"
#include "nn/table.h"
#include "nn/text/utf8.h"

// The file: the length of the header in 8 bytes, the header in JSON, and the data that its offsets count in.
//
//   {"weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"format": "pt"}}
namespace heed {
namespace {

using Json = nlohmann::json;
constexpr uint64_t kLongestHeader = 100'000'000;
constexpr size_t kDeepest = 64;  // levels of lists and objects, all but three of them in fields that we skip
constexpr const char* kMetadata = "__metadata__";
constexpr std::string_view kFields[] = {"dtype", "shape", "data_offsets"};

// A name as messages show it: short, and readable whatever its bytes.
std::string readable(const std::string& name) {
  constexpr size_t kLongest = 100;
  const std::string cut = name.size() <= kLongest ? name : name.substr(0, kLongest) + "...";
  return Json(cut).dump(-1, ' ', false, Json::error_handler_t::replace);
}

struct Kind {
  const char* name;
  int64_t size;  // of a stored element, in bytes
  DType dtype;   // that it becomes
  void (*read)(FileReader& file, const Tensor& x, std::string_view what);
};

// A value that is not of the right kind, as messages show it.
std::string found(const Json& value) {
  return value.is_number() ? value.dump() : std::string("a JSON ") + value.type_name();
}

// The header; fields of tensors that are none of ours are left out. Keys and levels are watched while it is parsed,
// since the result shows neither a name that came twice nor how deep the parser had to go.
Json parse(const FileReader& file, const std::string& text) {
  std::vector<std::set<std::string>> names;  // in the objects that are open
  std::string tensor;
  const auto watch = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    const auto level = static_cast<size_t>(depth);
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      file.require(level < kDeepest, "the header is nested more than ", kDeepest, " levels deep");
      names.resize(level);
      names.emplace_back();
    }
    if (event != Json::parse_event_t::key) return true;
    const std::string& key = parsed.get_ref<const std::string&>();
    if (level == 1) tensor = (key == kMetadata ? "" : "tensor ") + readable(key);
    file.require(names[level - 1].insert(key).second, tensor, level == 1 ? "" : ": " + readable(key),
                 " comes twice");
    return level != 2 || std::count(kFields, std::end(kFields), key) > 0 || tensor == readable(kMetadata);
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    std::string why = error.what();
    why.resize(std::min({why.find("; last read"), why.find(" parsing '"), why.size()}));
    file.require(false, "the header is not JSON at its byte ", error.byte, ": ",
                 why.substr(why.find("syntax error")));
  } catch (const Json::out_of_range&) {
    file.require(false, "the header holds a number that is too large");
  }
  return {};
}

Metadata metadata_of(const FileReader& file, const Json& header) {
  Metadata metadata;
  const Json texts = header.value(kMetadata, Json::object());
  file.require(texts.is_object(), readable(kMetadata), " is ", found(texts), " and must be an object");
  for (const auto& [key, text] : texts.items()) {
    file.require(text.is_string(), readable(kMetadata), ": ", readable(key), " is ", found(text),
                 " and must be a string");
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

// Half a float32: sign, 5 bits of exponent, 10 of fraction.
struct Half {
  operator float() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float sign = bits >> 15 ? -1.0F : 1.0F;
    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
    const auto digits = static_cast<float>(exponent ? 1024 + fraction : fraction);
    return sign * std::ldexp(digits, std::max(exponent, 1) - 25);
  }
  uint16_t bits;
};

// The upper half of a float32.
struct Brain {
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  uint16_t bits;
};

// Elements that are stored as such and become T.
template <class Element, class T>
constexpr Kind kind(const char* name) {
  return {name, sizeof(Element), dtype_of<T>, [](FileReader& file, const Tensor& x, std::string_view what) {
            if (std::is_same_v<Element, T>) return file.read(x, what);
            constexpr int64_t kBlock = 4096;
            Element block[kBlock];
            T* out = x.mutable_data<T>();
            for (int64_t at = 0; at < x.numel(); at += kBlock) {
              const int64_t count = std::min(kBlock, x.numel() - at);
              file.read(block, static_cast<uint64_t>(count) * sizeof(Element));
              std::copy_n(block, count, out + at);
            }
          }};
}

// First those that are stored as they are in memory, in the order of DType: saving looks here too.
constexpr Kind kKinds[] = {
    kind<float, float>("F32"),    kind<double, double>("F64"),    kind<int64_t, int64_t>("I64"),
    kind<bool, bool>("BOOL"),     kind<Half, float>("F16"),       kind<Brain, float>("BF16"),
    kind<int8_t, int64_t>("I8"),  kind<int16_t, int64_t>("I16"),  kind<int32_t, int64_t>("I32"),
    kind<uint8_t, int64_t>("U8"), kind<uint16_t, int64_t>("U16"), kind<uint32_t, int64_t>("U32"),
};

// An entry that fits the file.
struct Stored {
  std::string name;
  const Kind* kind;
  Shape shape;
  uint64_t begin, end;
};

std::vector<uint64_t> numbers(const FileReader& file, const std::string& what, const Json& list) {
  file.require(list.is_array(), what, " is ", found(list), " and must be an array");
  for (const Json& number : list)
    file.require(number.is_number_unsigned(), what, " holds ", found(number),
                 " and must hold whole numbers from 0, below 2^64");
  return list;
}

Stored checked(const FileReader& file, const std::string& name, const Json& entry) {
  std::string tensor = "tensor " + readable(name);
  file.require(entry.is_object(), tensor, " is ", found(entry), " and must be an object");
  for (const std::string_view field : kFields) file.require(entry.contains(field), tensor, " has no ", field);
  tensor += ": ";
  const Json& dtype = entry["dtype"];
  file.require(dtype.is_string(), tensor, "dtype is ", found(dtype), " and must be a string");
  const auto* kind = std::ranges::find(kKinds, dtype.get<std::string>(), &Kind::name);
  if (kind == std::end(kKinds)) {
    std::vector<std::string> known;
    for (const Kind& each : kKinds) known.push_back(each.name);
    file.require(false, tensor, "dtype ", readable(dtype), " is none of ", detail::listed(known));
  }
  const auto offsets = numbers(file, tensor + "data_offsets", entry["data_offsets"]);
  file.require(offsets.size() == 2, tensor, "data_offsets are ", offsets.size(),
               " numbers and must be two, begin and end");
  const uint64_t begin = offsets[0], end = offsets[1];
  file.require(begin <= end && end <= file.left(), tensor, "data_offsets [", begin, ", ", end,
               "] do not lie within the ", file.left(), " bytes of data");
  Shape shape;
  for (const uint64_t size : numbers(file, tensor + "shape", entry["shape"])) {
    file.require(size <= std::numeric_limits<int64_t>::max(), tensor, "a size of ", size, " is too large");
    shape.push_back(static_cast<int64_t>(size));
  }
  const std::optional<int64_t> bytes = byte_count(shape, kind->size);
  file.require(bytes.has_value(), tensor, "the sizes of shape ", shape, " multiplied are too large");
  file.require(static_cast<uint64_t>(*bytes) == end - begin, tensor, "shape ", shape, " of ", kind->name,
               " takes ", *bytes, " bytes, and data_offsets [", begin, ", ", end, "] hold ", end - begin);
  return {name, kind, shape, begin, end};
}

// All tensors in the order of their data, which they fill without holes.
std::vector<Stored> checked(const FileReader& file, const Json& header) {
  std::vector<Stored> tensors;
  for (const auto& [name, entry] : header.items())
    if (name != kMetadata) tensors.push_back(checked(file, name, entry));
  std::ranges::sort(tensors, {}, [](const Stored& tensor) { return std::pair(tensor.begin, tensor.end); });
  uint64_t at = 0;
  for (const Stored& tensor : tensors) {
    file.require(tensor.begin == at, "tensor ", readable(tensor.name), " begins at byte ", tensor.begin,
                 " of the data and must begin at byte ", at, ", where the one before it ends");
    at = tensor.end;
  }
  file.require(at == file.left(), "the tensors end at byte ", at, " of the data, which has ", file.left());
  return tensors;
}

void check_text(const char* what, const std::string& text) {
  check(valid_utf8(text) == text.size(), "save_safetensors: ", what, " ", readable(text), " is not UTF-8");
}

}  // namespace

void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  for (const auto& [key, text] : metadata)
    check_text("the metadata key", key), check_text("the metadata text", text);

  // Wide elements first, so that all are aligned.
  std::vector<const Tensor*> order;
  int64_t at = 0;
  for (const int64_t size : {8, 4, 1})
    for (const auto& [name, x] : tensors) {
      check(x.defined(), "save_safetensors: tensor ", readable(name), " is undefined");
      if (size_of(x.dtype()) != size) continue;
      check(name != kMetadata, "save_safetensors: no tensor can be called ", kMetadata,
            ", where texts stand");
      check_text("the name", name);
      const int64_t end = at + x.numel() * size;
      header[name] = {{"dtype", kKinds[static_cast<size_t>(x.dtype())].name},
                      {"shape", std::vector<int64_t>(x.shape().begin(), x.shape().end())},
                      {"data_offsets", {at, end}}};
      order.push_back(&x);
      at = end;
    }

  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  check(length <= kLongestHeader, "save_safetensors: ", path, ": names, shapes and metadata take ", length,
        " bytes, and the format allows ", kLongestHeader);
  FileWriter file("save_safetensors", path);
  file.write({reinterpret_cast<const char*>(&length), sizeof length});
  file.write(text);
  for (const Tensor* x : order) file.write(*x);
  file.finish();
}

Safetensors load_safetensors(const std::string& path) {
  FileReader file("load_safetensors", path);
  uint64_t length = 0;
  file.require(file.left() >= sizeof length, "has ", file.left(),
               " bytes and must begin with 8, the length of its header");
  file.read(&length, sizeof length);
  file.require(length <= kLongestHeader, "its header takes ", length, " bytes, and the format allows ",
               kLongestHeader);
  const std::string text = file.read(length, "its header");
  file.require(text.starts_with('{'), "its header does not begin with {");
  // The parser would take it for the end.
  const size_t zero = text.find('\0');
  file.require(zero == std::string::npos, "the header is not JSON at its byte ", zero, ": it is 0");

  const Json header = parse(file, text);
  Safetensors loaded{{}, metadata_of(file, header)};
  for (const Stored& stored : checked(file, header)) {
    const Tensor x = Tensor::empty(stored.shape, stored.kind->dtype);
    stored.kind->read(file, x, "tensor " + readable(stored.name) + ": ");
    loaded.tensors.emplace(stored.name, x);
  }
  return loaded;
}

}  // namespace heed
