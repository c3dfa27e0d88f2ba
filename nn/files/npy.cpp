#include "nn/files/npy.h"

#include <charconv>
#include <set>

#include "nn/files/file.h"
#include "tensor/kernels/elementwise.h"

// The file: "\x93NUMPY", the version in 2 bytes, the length of the header in 2 (from 2.0 on 4), the header, a
// Python dictionary that spaces and a line break fill up to a multiple of 64 bytes, and the values.
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
namespace heed {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

constexpr const char* kDescr[] = {"<f4", "<f8", "<i8", "|b1"};  // in the order of DType

class Header {
 public:
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
        fortran_order = truth();
      else if (key == "shape")
        shape = sizes();
      else
        expect(false, "'descr', 'fortran_order' or 'shape'");
      expect(seen.insert(key).second, "another key: this one comes twice");
      if (take(",")) continue;
      need("}");
      break;
    }
    skip();
    expect(at_ == text.size(), "the end of the header");
    file.require(seen.size() == 3, "the header must name descr, fortran_order and shape");
  }

  std::string descr;
  bool fortran_order = false;
  Shape shape;

 private:
  void expect(bool condition, const std::string& what) const {
    file_.require(condition, "byte ", begin_ + at_, ": expected ", what);
  }
  void skip() { at_ = std::min(text_.find_first_not_of(" \t\n", at_), text_.size()); }
  bool take(std::string_view word) {
    skip();
    const bool here = std::string_view(text_).substr(at_).starts_with(word);
    if (here) at_ += word.size();
    return here;
  }
  void need(const std::string& word) { expect(take(word), "'" + word + "'"); }

  std::string quoted() {
    const char quote = take("\"") ? '"' : '\'';
    expect(quote == '"' || take("'"), "a text in quotes");
    const size_t end = text_.find(quote, at_);
    expect(end != std::string::npos, "a quote at the end");
    std::string word = text_.substr(at_, end - at_);
    at_ = end + 1;
    return word;
  }
  bool truth() {
    const bool is = take("True");
    expect(is || take("False"), "True or False");
    return is;
  }
  // (), (2,), (2, 3), (2, 3,)
  Shape sizes() {
    Shape sizes;
    need("(");
    while (!take(")")) {
      skip();
      const char *begin = text_.data() + at_, *limit = text_.data() + text_.size();
      int64_t size = 0;
      const auto [end, error] = std::from_chars(begin, limit, size);
      expect(error == std::errc() && size >= 0 && (*begin != '0' || end == begin + 1),
             "a size from 0 to 2^63 - 1");
      at_ += static_cast<size_t>(end - begin);
      sizes.push_back(size);
      if (take(",")) continue;
      expect(sizes.dim() > 1, "',': one size alone is written (3,)");
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
  std::string header = std::string("{'descr': '") + kDescr[static_cast<size_t>(x.dtype())] +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t i = 0; i < x.dim(); ++i) header += (i ? ", " : "") + std::to_string(x.size(i));
  header += x.dim() == 1 ? ",), }" : "), }";
  const size_t before = kMagic.size() + 4, whole = (before + header.size() + 1 + 63) / 64 * 64;
  header.resize(whole - before - 1, ' ');
  header += '\n';
  check(header.size() < 1 << 16, "save_npy: ", path, ": a shape of ", x.dim(), " sizes is too long");
  FileWriter file("save_npy", path);
  file.write(kMagic);
  const size_t length = header.size();
  file.write(std::string{1, 0, static_cast<char>(length & 255), static_cast<char>(length >> 8)});
  file.write(header);
  file.write(x);
  file.finish();
}

Tensor load_npy(const std::string& path) {
  FileReader file("load_npy", path);
  file.require(file.read(kMagic.size(), "its mark") == kMagic,
               "is no .npy file: it does not begin with \\x93NUMPY");
  const std::string version = file.read(2, "its version");
  const int major = static_cast<unsigned char>(version[0]);
  file.require(major >= 1 && major <= 3 && version[1] == 0, "has version ", major, ".",
               int{static_cast<unsigned char>(version[1])}, "; 1.0, 2.0 and 3.0 are known");
  const size_t width = major == 1 ? 2 : 4;
  uint32_t length = 0;
  file.read(&length, width);
  const std::string text = file.read(length, "its header");
  const Header header(file, text, kMagic.size() + 2 + width);

  const auto* descr = std::ranges::find(kDescr, header.descr);
  file.require(descr != std::end(kDescr), "descr is '", header.descr,
               "', and '<f4', '<f8', '<i8' and '|b1' are read; convert with x.astype in NumPy");
  const auto dtype = static_cast<DType>(descr - kDescr);
  const std::optional<int64_t> bytes = byte_count(header.shape, size_of(dtype));
  file.require(bytes && static_cast<uint64_t>(*bytes) == file.left(), "shape ", header.shape, " of ", dtype,
               " does not fit the ", file.left(), " bytes of values");
  const auto in_order = [&](Shape sizes) {  // of the file from that of the tensor, and back
    if (header.fortran_order) std::reverse(sizes.begin(), sizes.end());
    return sizes;
  };
  const Tensor x = Tensor::empty(in_order(header.shape), dtype);
  file.read(x, "");
  return kernel::contiguous(TensorImpl::view(x, header.shape, in_order(x.strides())));
}

}  // namespace heed
