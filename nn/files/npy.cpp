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

class Header {
 public:
  // `begin` is the position of the header in the file, for messages.
  Header(const FileReader& file, const std::string& text, size_t begin)
      : file_(file), text_(text), begin_(begin) {
    need("{");
    std::set<std::string> seen;
    while (!take("}")) {
      const std::string key = quoted();
      need(":");
      if (key == "descr")
        descr = quoted();
      else if (key == "fortran_order")
        fortran_order = boolean();
      else if (key == "shape")
        shape = sizes();
      else
        expect(false, "'descr', 'fortran_order' or 'shape'");
      expect(seen.insert(key).second, "another key: this one appears twice");
      if (take(",")) continue;
      need("}");
      break;
    }
    skip_space();
    expect(at_ == text.size(), "the end of the header");
    file.require(seen.size() == 3, "the header must contain descr, fortran_order and shape");
  }

  std::string descr;
  bool fortran_order = false;
  Shape shape;

 private:
  void expect(bool condition, const std::string& what) const {
    file_.require(condition, "byte ", begin_ + at_, ": expected ", what);
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n", at_), text_.size()); }
  bool take(std::string_view word) {
    skip_space();
    const bool found = std::string_view(text_).substr(at_).starts_with(word);
    if (found) at_ += word.size();
    return found;
  }
  void need(const std::string& word) { expect(take(word), "'" + word + "'"); }

  std::string quoted() {
    const char quote = take("\"") ? '"' : '\'';
    expect(quote == '"' || take("'"), "a string in quotes");
    const size_t end = text_.find(quote, at_);
    expect(end != std::string::npos, "a closing quote");
    std::string word = text_.substr(at_, end - at_);
    at_ = end + 1;
    return word;
  }
  bool boolean() {
    const bool value = take("True");
    expect(value || take("False"), "True or False");
    return value;
  }
  // (), (2,), (2, 3), (2, 3,), and as Python 2 wrote it (2L, 3L).
  Shape sizes() {
    Shape sizes;
    need("(");
    while (!take(")")) {
      skip_space();
      const char *begin = text_.data() + at_, *limit = text_.data() + text_.size();
      int64_t size = 0;
      const auto [end, error] = std::from_chars(begin, limit, size);
      expect(error == std::errc() && size >= 0 && (*begin != '0' || end == begin + 1),
             "a size from 0 to 2^63 - 1");
      expect(sizes.dim() < Shape::kMaxDim, detail::text("at most ", Shape::kMaxDim, " dimensions"));
      at_ += static_cast<size_t>(end - begin) + (end < limit && *end == 'L' ? 1 : 0);
      sizes.push_back(size);
      if (take(",")) continue;
      expect(sizes.dim() > 1, "',': a single size is written (3,)");
      need(")");
      break;
    }
    return sizes;
  }

  const FileReader& file_;
  const std::string& text_;
  size_t begin_, at_ = 0;
};

}  // namespace

void save_npy(const std::string& path, const Tensor& x) {
  check(x.defined(), "save_npy: ", path, ": the tensor is undefined");
  std::string header = detail::text("{'descr': '", stored_types[static_cast<size_t>(x.dtype())].npy,
                                    "', 'fortran_order': False, 'shape': (");
  for (int64_t i = 0; i < x.dim(); ++i) header += (i ? ", " : "") + std::to_string(x.size(i));
  header += x.dim() == 1 ? ",), }" : "), }";
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
  const int major = static_cast<unsigned char>(version[0]);
  file.require(major >= 1 && major <= 3 && version[1] == 0, "has version ", major, ".",
               int{static_cast<unsigned char>(version[1])}, "; supported are 1.0, 2.0 and 3.0");
  const size_t width = major == 1 ? 2 : 4;
  uint32_t length = 0;
  file.read(&length, width);
  const std::string text = file.read(length, "its header");
  const Header header(file, text, kMagic.size() + 2 + width);

  const StoredType& type = file.stored_type(&StoredType::npy, header.descr, "descr '" + header.descr + "'",
                                            "; convert with x.astype in NumPy");
  const std::optional<int64_t> bytes = byte_count(header.shape, type.size);
  file.require(bytes && static_cast<uint64_t>(*bytes) == file.left(), "shape ", header.shape, " of ",
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
