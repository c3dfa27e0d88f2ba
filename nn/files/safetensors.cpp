#include "nn/files/safetensors.h"

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "nn/files/file.h"
#include "tensor/utf8.h"

// The format: the length of the header in 8 bytes; the header in JSON; the data, where offsets count from 0.
//
//   {"weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"format": "pt"}}
namespace heed {
namespace {

using Json = nlohmann::json;
using Type = Json::value_t;
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr size_t kMaxDepth =
    64;  // of nested lists and objects; the format needs 3, unknown fields may have more
constexpr const char* kMetadata = "__metadata__";

// A name for messages, shortened and escaped.
std::string readable(const std::string& name) {
  constexpr size_t kMaxSize = 100;
  const std::string cut = name.size() <= kMaxSize ? name : name.substr(0, kMaxSize) + "...";
  return Json(cut).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What the header says about one tensor.
struct Entry {
  std::string dtype;
  std::map<std::string, std::vector<uint64_t>> numbers;  // "shape" and "data_offsets"
};

// Reads the header. It is told every value by nlohmann's parser, and checks it against the format: a tree of
// Json would allocate memory to free itself, and would not show names that appear twice. Unknown fields of
// tensors are skipped.
class Header {
 public:
  Header(const FileReader& file, const std::string& text) : file_(file) { Json::sax_parse(text, this); }

  std::map<std::string, Entry> tensors;
  Metadata metadata;

  bool null() { return value(Type::null); }
  bool boolean(bool) { return value(Type::boolean); }
  bool number_integer(int64_t number) { return value(Type::number_integer, Json(number).dump()); }
  bool number_unsigned(uint64_t number) { return value(Type::number_unsigned, Json(number).dump(), number); }
  bool number_float(double number, const std::string&) {
    return value(Type::number_float, Json(number).dump());
  }
  bool string(const std::string& text) { return value(Type::string, text); }
  bool binary(const Json::binary_t&) { return false; }  // does not appear in JSON text: GCOV_EXCL_LINE
  bool start_object(size_t) { return open(Type::object); }
  bool start_array(size_t) { return open(Type::array); }
  bool end_array() { return close(); }
  bool end_object() {
    for (const char* field : {"dtype", "shape", "data_offsets"})
      file_.require(names_.size() != kTensor || !entry_ || names_.back().contains(field), where_, " has no ",
                    field);
    return close();
  }
  bool key(const std::string& key) {
    if (names_.size() == kHeader) {
      entry_ = key == kMetadata ? nullptr : &tensors[key];
      where_ = (entry_ ? "tensor " : "") + readable(key);
    } else if (names_.size() == kTensor) {
      field_ = key;
    }
    file_.require(names_.back().insert(key).second, where_,
                  names_.size() == kHeader ? "" : ": " + readable(key), " appears twice");
    return true;
  }
  bool parse_error(size_t byte, const std::string&, const Json::exception& error) {
    if (error.id >= 400) file_.refuse("the header contains a number that is too large");
    std::string why = error.what();
    why.resize(std::min({why.find("; last read"), why.find(" parsing '"), why.size()}));
    file_.refuse("the header is not JSON at its byte ", byte, ": ", why.substr(why.find("syntax error")));
  }

 private:
  // Levels of values: in the header, in a tensor or the metadata, in a list of a tensor.
  enum Level : size_t { kHeader = 1, kTensor = 2, kList = 3 };

  bool value(Type type, const std::string& text = "", uint64_t number = 0) {
    const bool is_number = type >= Type::number_integer && type <= Type::number_float;
    const auto found = [&] { return is_number ? text : std::string("a JSON ") + Json(type).type_name(); };
    const auto expect = [&](Type wanted, const std::string& what) {
      if (type == wanted) return;
      file_.refuse(where_, what, " is ", found(), " and must be ", wanted == Type::string ? "a " : "an ",
                   Json(wanted).type_name());
    };
    const bool list = field_ == "shape" || field_ == "data_offsets";
    const size_t level = names_.size();
    if (level == kHeader) {
      expect(Type::object, "");
    } else if (level == kTensor && !entry_) {
      expect(Type::string, ": " + readable(field_));
      metadata[field_] = text;
    } else if (level == kTensor && field_ == "dtype") {
      expect(Type::string, ": dtype");
      entry_->dtype = text;
    } else if (level == kTensor && list) {
      expect(Type::array, ": " + field_);
      entry_->numbers[field_];
    } else if (level == kList && list) {
      if (type != Type::number_unsigned)
        file_.refuse(where_, ": ", field_, " contains ", found(),
                     " and must contain whole numbers from 0, below 2^64");
      entry_->numbers[field_].push_back(number);
    }
    return true;
  }
  bool open(Type type) {
    file_.require(names_.size() < kMaxDepth, "the header is nested more than ", kMaxDepth, " levels deep");
    value(type);
    names_.emplace_back();
    return true;
  }
  bool close() {
    names_.pop_back();
    return true;
  }

  const FileReader& file_;
  std::vector<std::set<std::string>> names_;  // in each object and list that is open
  Entry* entry_ = nullptr;                    // current tensor; null in the metadata
  std::string where_, field_;                 // its name for messages, and the current name in it
};

Header read_header(FileReader& file) {
  const std::string start = file.read(std::min<uint64_t>(file.left(), 9), "its start");
  uint64_t length = 0;
  std::memcpy(&length, start.data(), std::min(start.size(), sizeof length));
  file.require(start.ends_with('{') && start.size() == 9 && length - 1 < kMaxHeader,
               "is not a safetensors file", looks_like(start));
  file.require(length - 1 <= file.left(), "its header takes ", length, " bytes, and the file has ",
               file.left() + 1, " there");
  const std::string text = "{" + file.read(length - 1, "its header");
  // The parser would stop there.
  const size_t zero = text.find('\0');
  file.require(zero == std::string::npos, "the header is not JSON at its byte ", zero, ": it is 0");
  return Header(file, text);
}

// A tensor of the file, checked.
struct Stored {
  std::string name;
  const StoredType* type;
  Shape shape;
  uint64_t begin, end;
};

Stored checked(const FileReader& file, const std::string& name, const Entry& entry) {
  const std::string tensor = "tensor " + readable(name) + ": ";
  const StoredType& type =
      file.stored_type(&StoredType::safetensors, entry.dtype, tensor + "dtype " + readable(entry.dtype));
  const auto &offsets = entry.numbers.at("data_offsets"), &sizes = entry.numbers.at("shape");
  file.require(offsets.size() == 2, tensor, "data_offsets are ", offsets.size(),
               " numbers and must be two, begin and end");
  const uint64_t begin = offsets[0], end = offsets[1];
  file.require(begin <= end && end <= file.left(), tensor, "data_offsets [", begin, ", ", end,
               "] do not lie within the ", file.left(), " bytes of data");
  file.require(sizes.size() <= Shape::kMaxDim, tensor, "a shape of ", sizes.size(),
               " dimensions; a tensor has at most ", Shape::kMaxDim);
  Shape shape;
  for (const uint64_t size : sizes) {
    file.require(size <= std::numeric_limits<int64_t>::max(), tensor, "a size of ", size, " is too large");
    shape.push_back(static_cast<int64_t>(size));
  }
  const std::optional<int64_t> bytes = byte_count(shape, type.size);
  file.require(bytes.has_value(), tensor, "the sizes of shape ", shape, " multiplied are too large");
  const int64_t needed = bytes.value_or(0);
  file.require(static_cast<uint64_t>(needed) == end - begin, tensor, "shape ", shape, " of ",
               type.safetensors, " takes ", needed, " bytes, and data_offsets [", begin, ", ", end, "] are ",
               end - begin);
  return {name, &type, shape, begin, end};
}

// Returns the tensors in the order of their data, which must have no gaps.
std::vector<Stored> checked(const FileReader& file, const std::map<std::string, Entry>& entries) {
  std::vector<Stored> tensors;
  for (const auto& [name, entry] : entries) tensors.push_back(checked(file, name, entry));
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

// JSON of a string, a list, and an object.
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
  std::map<std::string, std::string> header, texts;  // values in JSON
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
      check(name != kMetadata, "save_safetensors: a tensor cannot be called ", kMetadata,
            ", the place of the metadata");
      check_text("the name", name);
      const int64_t end = at + x.numel() * size;
      const std::string dtype(stored_types[static_cast<size_t>(x.dtype())].safetensors);
      header[name] =
          object({{"dtype", quoted(dtype)}, {"shape", list(x.shape())}, {"data_offsets", list({at, end})}});
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
  Safetensors loaded{{}, std::move(header.metadata)};
  for (const Stored& tensor : checked(file, header.tensors))
    loaded.tensors[tensor.name] =
        file.read(*tensor.type, tensor.shape, "tensor " + readable(tensor.name) + ": ");
  return loaded;
}

Metadata load_metadata(const std::string& path) {
  FileReader file("load_metadata", path);
  return read_header(file).metadata;
}

}  // namespace heed
