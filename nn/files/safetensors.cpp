#include "nn/files/safetensors.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "nn/files/file.h"
#include "tensor/utf8.h"

// The format: the length of the header in 8 bytes; the header in JSON; the data, where offsets count from 0.
//
//   {"weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"format": "pt"}}
namespace heed {
namespace {

using JsonValue = nlohmann::json;
using JsonEvent = JsonValue::parse_event_t;
using JsonType = JsonValue::value_t;
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr int kMaxDepth = 64;  // of nested lists and objects: the format needs 3, unknown fields more
constexpr const char* kMetadata = "__metadata__";

// A name in quotes, shortened and printable, for messages.
std::string readable(const std::string& name) {
  constexpr size_t kMaxSize = 100;
  return "\"" + printable(name.substr(0, kMaxSize)) + (name.size() > kMaxSize ? "...\"" : "\"");
}

// A tensor of the file, as the header describes it.
struct Entry {
  std::optional<std::string> dtype;
  std::map<std::string, std::vector<uint64_t>> numbers;  // "shape" and "data_offsets"
};
struct Header {
  std::map<std::string, Entry> tensors;
  Metadata metadata;
};

// Checks the JSON of the header against the format. A callback reads every value and discards it: a tree of
// them would allocate memory to free itself, and would hide names that appear twice. Ignores unknown fields
// of tensors.
Header parse(const FileReader& file, const std::string& text) {
  // The depths of values: in the header, in a tensor or the metadata, in a list of a tensor.
  enum Depth : int { kHeader = 1, kTensor = 2, kList = 3 };
  Header header;
  std::vector<std::set<std::string>> names;  // of the latest object at each depth
  Entry* entry = nullptr;                    // current tensor; null in the metadata
  std::string where, field;                  // its name for messages, and the current name in it

  const auto on_name = [&](size_t depth, const std::string& name) {
    if (depth == kTensor) field = name;
    if (depth == kHeader) {
      entry = name == kMetadata ? nullptr : &header.tensors[name];
      where = (entry ? "tensor " : "") + readable(name);
    }
    if (!names[depth - 1].insert(name).second)
      file.refuse(where, depth == kHeader ? "" : ": " + readable(name), " appears twice");
  };
  const auto on_value = [&](int depth, JsonType type, const JsonValue& value) {
    const auto found = [&] {
      return value.is_number() ? value.dump() : detail::text("a JSON ", JsonValue(type).type_name());
    };
    const auto expect = [&](JsonType wanted, const auto&... what) {
      if (type == wanted) return;
      file.refuse(where, what..., " is ", found(), " and must be ", wanted == JsonType::string ? "a " : "an ",
                  JsonValue(wanted).type_name());
    };
    const bool list = field == "shape" || field == "data_offsets";
    if (depth == kHeader) {
      expect(JsonType::object);
    } else if (depth == kTensor && !entry) {
      expect(JsonType::string, ": ", readable(field));
      header.metadata[field] = value;
    } else if (depth == kTensor && field == "dtype") {
      expect(JsonType::string, ": dtype");
      entry->dtype = value.get<std::string>();
    } else if (depth == kTensor && list) {
      expect(JsonType::array, ": ", field);
      entry->numbers[field];
    } else if (depth == kList && list) {
      if (type != JsonType::number_unsigned)
        file.refuse(where, ": ", field, " contains ", found(),
                    " and must contain whole numbers from 0, below 2^64");
      entry->numbers[field].push_back(value.get<uint64_t>());
    }
  };
  const auto on_event = [&](int depth, JsonEvent event, const JsonValue& value) {
    const bool opens = event == JsonEvent::object_start || event == JsonEvent::array_start;
    if (event == JsonEvent::key) on_name(static_cast<size_t>(depth), value);
    if (event == JsonEvent::value) on_value(depth, value.type(), value);
    if (!opens) return false;
    file.require(depth < kMaxDepth, "the header is nested more than ", kMaxDepth, " levels deep");
    on_value(depth, event == JsonEvent::object_start ? JsonType::object : JsonType::array, value);
    names.resize(static_cast<size_t>(depth));
    names.emplace_back();
    return true;  // values in it are seen
  };
  try {
    const JsonValue discarded = JsonValue::parse(text, on_event);
  } catch (const JsonValue::parse_error& error) {
    std::string why = error.what();
    why.resize(std::min({why.find("; last read"), why.find(" parsing '"), why.size()}));
    file.refuse("the header is not JSON at its byte ", error.byte, ": ",
                why.substr(why.find("syntax error")));
  } catch (const JsonValue::out_of_range&) {
    file.refuse("the header contains a number that is too large");
  }
  return header;
}

Header read_header(FileReader& file) {
  const std::string start = file.read(std::min<uint64_t>(file.left(), 9), "its start");
  uint64_t length = 0;
  std::memcpy(&length, start.data(), std::min(start.size(), sizeof length));
  file.require(start.ends_with('{') && start.size() == 9 && length - 1 < kMaxHeader,
               "is not a safetensors file", looks_like(start));
  file.require(length - 1 <= file.left(), "its header takes ", length, " bytes, and the file has ",
               file.left() + 1, " there");
  const std::string text = "{" + file.read(length - 1, "its header");
  // Otherwise the parser would stop at it.
  const size_t zero = text.find('\0');
  file.require(zero == std::string::npos, "the header is not JSON at its byte ", zero, ": it is 0");
  return parse(file, text);
}

// A tensor of the file, checked.
struct Stored {
  uint64_t begin, end;
  std::string name;
  const StoredType* type;
  Shape shape;
};

Stored checked(const FileReader& file, const std::string& name, const Entry& entry) {
  const std::string tensor = "tensor " + readable(name);
  const auto require = [&](bool condition, const auto&... parts) {
    file.require(condition, tensor, parts...);
  };
  require(entry.dtype.has_value(), " has no dtype");
  for (const char* field : {"shape", "data_offsets"})
    require(entry.numbers.contains(field), " has no ", field);
  const StoredType& type =
      file.stored_type(&StoredType::safetensors, *entry.dtype, tensor + ": dtype " + readable(*entry.dtype));
  const auto &offsets = entry.numbers.at("data_offsets"), &sizes = entry.numbers.at("shape");
  require(offsets.size() == 2, ": data_offsets are ", offsets.size(),
          " numbers and must be two, begin and end");
  const uint64_t begin = offsets[0], end = offsets[1];
  const std::string range = detail::text("data_offsets [", begin, ", ", end, "]");
  require(begin <= end && end <= file.left(), ": ", range, " do not lie within the ", file.left(),
          " bytes of data");
  require(sizes.size() <= Shape::kMaxDim, ": a shape of ", sizes.size(), " dimensions; a tensor has at most ",
          Shape::kMaxDim);
  Shape shape;
  for (const uint64_t size : sizes) {
    require(size <= INT64_MAX, ": a size of ", size, " is too large");
    shape.push_back(static_cast<int64_t>(size));
  }
  const std::optional<uint64_t> bytes = byte_count(shape, type.size);
  require(bytes.has_value(), ": the sizes of shape ", shape, " multiplied are too large");
  require(*bytes == end - begin, ": shape ", shape, " of ", type.safetensors, " takes ", *bytes,
          " bytes, and ", range, " are ", end - begin);
  return {begin, end, name, &type, shape};
}

// The JSON of a list, and of an object with these members in JSON.
std::string list(const Shape& numbers) { return replaced(to_string(numbers), ", ", ","); }
std::string object(const std::map<std::string, std::string>& members) {
  std::string text;
  for (const auto& [name, value] : members)
    text += (text.empty() ? "" : ",") + JsonValue(name).dump() + ":" + value;
  return "{" + text + "}";
}

void check_text(const char* what, const std::string& text) {
  check(valid_utf8(text) == text.size(), "save_safetensors: ", what, " ", readable(text), " is not UTF-8");
}

}  // namespace

void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata) {
  std::map<std::string, std::string> header, texts;  // values in JSON
  for (const auto& [key, text] : metadata) {
    check_text("the metadata key", key), check_text("the metadata text", text);
    texts[key] = JsonValue(text).dump();
  }
  if (!texts.empty()) header[kMetadata] = object(texts);

  // Wide elements first, so that all are aligned.
  std::vector<const Tensor*> order;
  int64_t at = 0;
  for (const int64_t size : {8, 4, 1})
    for (const auto& [name, x] : tensors) {
      check(x.defined(), "save_safetensors: tensor ", readable(name), " is undefined");
      if (size_of(x.dtype()) != size) continue;
      check(name != kMetadata, "save_safetensors: a tensor cannot be called ", kMetadata,
            ", the place of the metadata");
      check_text("the name", name);
      const int64_t end = at + x.numel() * size;
      const JsonValue dtype = stored_types[static_cast<size_t>(x.dtype())].safetensors;
      header[name] =
          object({{"dtype", dtype.dump()}, {"shape", list(x.shape())}, {"data_offsets", list({at, end})}});
      order.push_back(&x);
      at = end;
    }

  std::string text = object(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  check(length <= kMaxHeader, "save_safetensors: ", path, ": names, shapes and metadata take ", length,
        " bytes, and the format allows ", kMaxHeader);
  FileWriter file("save_safetensors", path);
  file.write({reinterpret_cast<const char*>(&length), sizeof length});
  file.write(text);
  for (const Tensor* x : order) file.write(*x);
  file.finish();
}

Safetensors load_safetensors(const std::string& path) {
  FileReader file("load_safetensors", path);
  Header header = read_header(file);
  std::vector<Stored> tensors;
  for (const auto& [name, entry] : header.tensors) tensors.push_back(checked(file, name, entry));
  std::ranges::sort(tensors, {}, [](const Stored& tensor) { return std::pair(tensor.begin, tensor.end); });
  uint64_t at = 0;
  for (const Stored& tensor : tensors) {
    file.require(tensor.begin == at, "tensor ", readable(tensor.name), " begins at byte ", tensor.begin,
                 " of the data and must begin at byte ", at, ", where the one before it ends");
    at = tensor.end;
  }
  file.require(at == file.left(), "the tensors end at byte ", at, " of the data, which has ", file.left());

  Safetensors loaded{{}, std::move(header.metadata)};
  for (const auto& [begin, end, name, type, shape] : tensors)
    loaded.tensors[name] = file.read(*type, shape, "tensor " + readable(name) + ": ");
  return loaded;
}

Metadata load_metadata(const std::string& path) {
  FileReader file("load_metadata", path);
  return read_header(file).metadata;
}

}  // namespace heed
