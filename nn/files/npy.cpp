#include "nn/files/npy.h"

#include <charconv>
#include <set>

#include "nn/files/file.h"
#include "tensor/kernels/elementwise.h"

// The format: "\x93NUMPY"; the version, 2 bytes; the length of the header, 2 bytes (4 from version 2.0 on);
// the header, a Python dictionary padded by spaces and a newline to a multiple of 64 bytes; the values.
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
namespace heed {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct ArrayHeader {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// Parses the header, which begins at byte `begin` of the file.
ArrayHeader parse(const FileReader& file, const std::string& text, size_t begin) {
  std::string_view rest = text;
  const auto expect = [&](bool condition, const auto&... what) {
    file.require(condition, "byte ", begin + text.size() - rest.size(), ": expected ", what...);
  };
  const auto take = [&](std::string_view word) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size()));
    const bool found = rest.starts_with(word);
    if (found) rest.remove_prefix(word.size());
    return found;
  };
  const auto need = [&](std::string_view word) { expect(take(word), "'", word, "'"); };
  const auto quoted = [&] {
    const char quote = take("\"") ? '"' : '\'';
    expect(quote == '"' || take("'"), "a string in quotes");
    const size_t end = rest.find(quote);
    expect(end != std::string::npos, "a closing quote");
    std::string word(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    return word;
  };
  // Parses a list up to `close`; a comma may follow the last item.
  const auto items = [&](std::string_view close, const auto& read_item) {
    while (!take(close)) {
      read_item();
      if (!take(",")) return need(close);
    }
  };

  ArrayHeader header;
  const auto read_size = [&] {  // Python 2 wrote 3L
    take("");
    int64_t size = 0;
    const auto [end, error] = std::from_chars(rest.begin(), rest.end(), size);
    expect(error == std::errc() && size >= 0 && (rest[0] != '0' || end == rest.begin() + 1),
           "a size from 0 to 2^63 - 1");
    expect(header.shape.dim() < Shape::kMaxDim, "at most ", Shape::kMaxDim, " dimensions");
    header.shape.push_back(size);
    rest.remove_prefix(static_cast<size_t>(end - rest.begin()));
    rest.remove_prefix(rest.starts_with('L') ? 1 : 0);
    take("");
    expect(header.shape.dim() > 1 || rest.starts_with(','), "',': a single size is written (3,)");
  };
  std::set<std::string> seen;
  need("{");
  items("}", [&] {
    const std::string key = quoted();
    need(":");
    if (key == "descr") {
      header.descr = quoted();
    } else if (key == "fortran_order") {
      header.fortran_order = take("True");
      expect(header.fortran_order || take("False"), "True or False");
    } else {
      expect(key == "shape", "'descr', 'fortran_order' or 'shape'");
      need("(");
      items(")", read_size);
    }
    expect(seen.insert(key).second, "another key: this one appears twice");
  });
  take("");
  expect(rest.empty(), "the end of the header");
  file.require(seen.size() == 3, "the header must contain descr, fortran_order and shape");
  return header;
}

}  // namespace

void save_npy(const std::string& path, const Tensor& x) {
  check(x.defined(), "save_npy: ", path, ": the tensor is undefined");
  std::string sizes = to_string(x.shape());
  sizes = "(" + sizes.substr(1, sizes.size() - 2) + (x.dim() == 1 ? ",)" : ")");
  std::string header = detail::text("{'descr': '", stored_types[static_cast<size_t>(x.dtype())].npy,
                                    "', 'fortran_order': False, 'shape': ", sizes, ", }");
  const size_t before = kMagic.size() + 4, total = (before + header.size() + 1 + 63) / 64 * 64;
  const size_t length = total - before;  // at most 182, with 8 sizes of 19 digits
  header.resize(length - 1, ' ');
  FileWriter file("save_npy", path);
  file.write(kMagic);
  file.write(std::string{1, 0, static_cast<char>(length), 0});
  file.write(header + '\n');
  file.write(x);
  file.finish();
}

Tensor load_npy(const std::string& path) {
  FileReader file("load_npy", path);
  const std::string start = file.read(std::min(file.left(), kMagic.size()), "its start");
  file.require(start == kMagic, "is not a .npy file", looks_like(start));
  const std::string version = file.read(2, "its version");
  const int major = static_cast<uint8_t>(version[0]), minor = static_cast<uint8_t>(version[1]);
  file.require(major >= 1 && major <= 3 && minor == 0, "has version ", major, ".", minor,
               "; supported are 1.0, 2.0 and 3.0");
  const size_t width = major == 1 ? 2 : 4;
  uint32_t length = 0;
  file.read(&length, width);
  const ArrayHeader header = parse(file, file.read(length, "its header"), kMagic.size() + 2 + width);

  const StoredType& type = file.stored_type(&StoredType::npy, header.descr, "descr '" + header.descr + "'",
                                            "; convert with x.astype in NumPy");
  file.require(byte_count(header.shape, type.size) == file.left(), "shape ", header.shape, " of ",
               header.descr, " does not fit the ", file.left(), " bytes of values");
  // Converts between the order of the tensor's dimensions and that of the file.
  const auto in_order = [&](Shape sizes) {
    if (header.fortran_order) std::reverse(sizes.begin(), sizes.end());
    return sizes;
  };
  const Tensor x = file.read(type, in_order(header.shape), "");
  return kernel::contiguous(TensorImpl::view(x, header.shape, in_order(x.strides())));
}

}  // namespace heed
