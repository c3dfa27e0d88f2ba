#include "nn/files/safetensors.h"

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "nn/files/file.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

// The file: the length of the header in 8 bytes, the header in JSON, and the data that its offsets count in.
//
//   {"weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"format": "pt"}}
namespace heed {
namespace {

using Json = nlohmann::json;
constexpr uint64_t kLongestHeader = 100'000'000;
constexpr size_t kMaxRecomputeDepth =
    64;  // levels of lists and objects, all but three of them in fields that we skip
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

using Type = Json::value_t;

// A JSON value, of those that stand in a header. nlohmann's own asks for memory in its destructor.
struct Value {
  Type type = Type::null;
  std::string text = {};  // of a string or number
  uint64_t number = 0;    // where it is whole, from 0
  std::vector<Value> list = {};
  std::map<std::string, Value> members = {};
};

// A value that is not of the right kind, as messages show it.
std::string found(const Value& value) {
  const bool number = value.type >= Type::number_integer && value.type <= Type::number_float;
  return number ? value.text : std::string("a JSON ") + Json(value.type).type_name();
}

// What the parser tells of the header becomes a value; fields of tensors that are none of ours are left out.
// Keys and levels are watched here, since the result would show neither a name that came twice nor how deep
// the parser had to go.
class Parser {
 public:
  Parser(const FileReader& file, const std::string& text) : file_(file) { Json::sax_parse(text, this); }
  Value header;

  bool null() { return put({Type::null}); }
  bool boolean(bool) { return put({Type::boolean}); }
  bool number_integer(int64_t value) { return put({Type::number_integer, Json(value).dump()}); }
  bool number_unsigned(uint64_t value) { return put({Type::number_unsigned, std::to_string(value), value}); }
  bool number_float(double value, const std::string&) {
    return put({Type::number_float, Json(value).dump()});
  }
  bool string(std::string& text) { return put({Type::string, text}); }
  bool binary(Json::binary_t&) { return false; }  // is in no text: GCOV_EXCL_LINE
  bool start_object(size_t) { return open({Type::object}); }
  bool start_array(size_t) { return open({Type::array}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(const std::string& key) {
    const size_t level = open_.size();
    if (level == 1) tensor_ = (key == kMetadata ? "" : "tensor ") + readable(key);
    file_.require(names_.back().insert(key).second, tensor_, level == 1 ? "" : ": " + readable(key),
                  " comes twice");
    const bool ours =
        level != 2 || std::count(kFields, std::end(kFields), key) > 0 || tensor_ == readable(kMetadata);
    member_ = ours && open_.back() ? &open_.back()->members[key] : nullptr;
    return true;
  }
  bool parse_error(size_t byte, const std::string&, const Json::exception& error) {
    if (error.id >= 400) file_.refuse("the header holds a number that is too large");
    std::string why = error.what();
    why.resize(std::min({why.find("; last read"), why.find(" parsing '"), why.size()}));
    file_.refuse("the header is not JSON at its byte ", byte, ": ", why.substr(why.find("syntax error")));
  }

 private:
  // Where the next value goes; null where it is left out.
  Value* place() {
    if (open_.empty()) return &header;
    if (!open_.back() || open_.back()->type == Type::object) return member_;
    return &open_.back()->list.emplace_back();
  }
  bool put(Value value) {
    if (Value* const to = place()) *to = std::move(value);
    return true;
  }
  bool open(Value value) {
    file_.require(open_.size() < kMaxRecomputeDepth, "the header is nested more than ", kMaxRecomputeDepth,
                  " levels deep");
    Value* const to = place();
    if (to) *to = std::move(value);
    open_.push_back(to);
    names_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }

  const FileReader& file_;
  std::string tensor_;
  std::vector<Value*> open_;                  // objects and lists, null where they are left out
  std::vector<std::set<std::string>> names_;  // in each of them
  Value* member_ = nullptr;                   // that was named last
};

Metadata metadata_of(const FileReader& file, const Value& header) {
  Metadata metadata;
  const auto texts = header.members.find(kMetadata);
  if (texts == header.members.end()) return metadata;
  file.require(texts->second.type == Type::object, readable(kMetadata), " is ", found(texts->second),
               " and must be an object");
  for (const auto& [key, text] : texts->second.members) {
    file.require(text.type == Type::string, readable(kMetadata), ": ", readable(key), " is ", found(text),
                 " and must be a string");
    metadata[key] = text.text;
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

std::vector<uint64_t> numbers(const FileReader& file, const std::string& what, const Value& list) {
  file.require(list.type == Type::array, what, " is ", found(list), " and must be an array");
  std::vector<uint64_t> numbers;
  for (const Value& number : list.list) {
    file.require(number.type == Type::number_unsigned, what, " holds ", found(number),
                 " and must hold whole numbers from 0, below 2^64");
    numbers.push_back(number.number);
  }
  return numbers;
}

Stored checked(const FileReader& file, const std::string& name, const Value& entry) {
  std::string tensor = "tensor " + readable(name);
  file.require(entry.type == Type::object, tensor, " is ", found(entry), " and must be an object");
  for (const std::string_view field : kFields)
    file.require(entry.members.contains(std::string(field)), tensor, " has no ", field);
  tensor += ": ";
  const Value& dtype = entry.members.at("dtype");
  file.require(dtype.type == Type::string, tensor, "dtype is ", found(dtype), " and must be a string");
  const auto* kind = std::ranges::find(kKinds, dtype.text, &Kind::name);
  if (kind == std::end(kKinds)) {
    std::vector<std::string> known;
    for (const Kind& each : kKinds) known.push_back(each.name);
    file.refuse(tensor, "dtype ", readable(dtype.text), " is none of ", detail::listed(known));
  }
  const auto offsets = numbers(file, tensor + "data_offsets", entry.members.at("data_offsets"));
  file.require(offsets.size() == 2, tensor, "data_offsets are ", offsets.size(),
               " numbers and must be two, begin and end");
  const uint64_t begin = offsets[0], end = offsets[1];
  file.require(begin <= end && end <= file.left(), tensor, "data_offsets [", begin, ", ", end,
               "] do not lie within the ", file.left(), " bytes of data");
  Shape shape;
  for (const uint64_t size : numbers(file, tensor + "shape", entry.members.at("shape"))) {
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
std::vector<Stored> checked(const FileReader& file, const Value& header) {
  std::vector<Stored> tensors;
  for (const auto& [name, entry] : header.members)
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

// JSON of a text, a list, and an object of such.
std::string quoted(const std::string& text) { return Json(text).dump(); }
std::string list(const Shape& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return "[" + text + "]";
}
std::string object(const std::map<std::string, std::string>& members) {
  std::string text;
  for (const auto& [name, value] : members) text += (text.empty() ? "" : ",") + quoted(name) + ":" + value;
  return "{" + text + "}";
}

void check_text(const char* what, const std::string& text) {
  check(valid_utf8(text) == text.size(), "save_safetensors: ", what, " ", readable(text), " is not UTF-8");
}

}  // namespace

void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata) {
  std::map<std::string, std::string> header, texts;  // values as JSON
  for (const auto& [key, text] : metadata) {
    check_text("the metadata key", key), check_text("the metadata text", text);
    texts[key] = quoted(text);
  }
  if (!texts.empty()) header[kMetadata] = object(texts);

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
      header[name] = object({{"dtype", quoted(kKinds[static_cast<size_t>(x.dtype())].name)},
                             {"shape", list(x.shape())},
                             {"data_offsets", list({at, end})}});
      order.push_back(&x);
      at = end;
    }

  std::string text = object(header);
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

  const Value header = Parser(file, text).header;
  Safetensors loaded{{}, metadata_of(file, header)};
  for (const Stored& stored : checked(file, header)) {
    const Tensor x = Tensor::empty(stored.shape, stored.kind->dtype);
    stored.kind->read(file, x, "tensor " + readable(stored.name) + ": ");
    loaded.tensors.emplace(stored.name, x);
  }
  return loaded;
}

}  // namespace heed
