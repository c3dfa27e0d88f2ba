#include <cmath>
#include <cstdio>

#include "tensor/tensor.h"

namespace heed {
namespace {

constexpr int64_t kMostShown = 1000;  // elements; of larger tensors the middle is left out
constexpr int64_t kEdge = 3;          // what is left at both ends of each dimension then
constexpr int64_t kLine = 100;        // characters

// How the floating numbers of one tensor are written: all alike, so that they form columns.
struct Style {
  enum { whole, fixed, scientific } kind = whole;

  explicit Style(const std::vector<double>& values) {
    double smallest = INFINITY, largest = 0;
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      if (value != std::trunc(value)) kind = fixed;
      if (value != 0) smallest = std::min(smallest, std::fabs(value));
      largest = std::max(largest, std::fabs(value));
    }
    if (largest >= 1e8 || (kind == fixed && (largest >= 1e5 || smallest < 1e-4))) kind = scientific;
  }
  static std::string write(bool value) { return value ? "true" : "false"; }
  static std::string write(int64_t value) { return std::to_string(value); }
  std::string write(double value) const {
    char text[40];
    if (std::isnan(value)) return "nan";  // without a sign
    std::snprintf(text, sizeof text, kind == whole ? "%.0f" : kind == fixed ? "%.4f" : "%.4e", value);
    return text;
  }
};

class Printer {
 public:
  explicit Printer(const Tensor& x) : x_(x), short_(x.numel() > kMostShown) {
    visit_dtype(x.dtype(), [&]<class T>(Type<T>) {
      std::vector<T> shown;
      collect(x.data<T>(), 0, shown);
      const Style style(std::vector<double>(shown.begin(), shown.end()));
      for (const T value : shown) words_.push_back(style.write(value));
    });
    for (const std::string& word : words_) width_ = std::max(width_, word.size());
  }

  std::string text() {
    write(0);
    return text_;
  }

 private:
  bool cut(int64_t dim) const { return short_ && x_.shape()[dim] > 2 * kEdge; }
  int64_t after_cut(int64_t dim) const { return x_.shape()[dim] - kEdge; }

  template <class T>
  void collect(const T* at, int64_t dim, std::vector<T>& shown) const {
    if (dim == x_.dim()) return shown.push_back(*at);
    for (int64_t i = 0; i < x_.shape()[dim]; ++i) {
      if (i == kEdge && cut(dim)) i = after_cut(dim);
      collect(at + i * x_.strides()[dim], dim + 1, shown);
    }
  }

  void write(int64_t dim) {
    if (dim == x_.dim()) {
      const std::string& word = words_[next_++];
      text_.append(width_ - word.size(), ' ').append(word);
      return;
    }
    const bool rows = dim + 1 < x_.dim();
    const std::string new_line = std::string(static_cast<size_t>(rows ? x_.dim() - dim - 1 : 1), '\n') +
                                 std::string(static_cast<size_t>(dim + 1), ' ');
    const int64_t in_line =
        rows ? 1 : std::max<int64_t>((kLine - x_.dim()) / static_cast<int64_t>(width_ + 2), 1);
    int64_t written = 0;
    const auto separate = [&] {
      if (written > 0) text_ += written % in_line ? ", " : "," + new_line;
      ++written;
    };
    text_ += '[';
    for (int64_t i = 0; i < x_.shape()[dim]; ++i) {
      separate();
      if (i == kEdge && cut(dim)) {
        text_ += "...";
        i = after_cut(dim);
        separate();
      }
      write(dim + 1);
    }
    text_ += ']';
  }

  const Tensor& x_;
  const bool short_;
  std::vector<std::string> words_;
  size_t width_ = 0;
  size_t next_ = 0;
  std::string text_;
};

}  // namespace

std::string to_string(const Tensor& x) {
  if (!x.defined()) return "an undefined tensor";
  return (x.numel() ? Printer(x).text() : "[]") + " " + name_of(x.dtype()) + " " + to_string(x.shape());
}

}  // namespace heed
