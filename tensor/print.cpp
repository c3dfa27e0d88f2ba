#include <cmath>
#include <cstdio>

#include "tensor/create.h"
#include "tensor/kernels/index.h"
#include "tensor/table.h"

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

// x, or of a large one the kEdge positions at both ends of each dimension.
Tensor shown_of(const Tensor& x) {
  Tensor shown = x;
  while (x.numel() > kMostShown) {  // the longest first, so that little is copied
    const auto longest = std::max_element(shown.shape().begin(), shown.shape().end());
    if (*longest <= 2 * kEdge) break;
    std::vector<int64_t> edges;
    for (int64_t i = -kEdge; i < kEdge; ++i) edges.push_back((i + *longest) % *longest);
    std::sort(edges.begin(), edges.end());
    shown = kernel::index_select(shown, longest - shown.shape().begin(), from_vector(edges, {2 * kEdge}));
  }
  return shown;
}

struct Printer {
  const Shape& whole;
  const Tensor shown;
  std::string text;
  std::vector<std::string> words;
  size_t width = 0, next = 0;  // of the words; the number of those in the text

  explicit Printer(const Tensor& x) : whole(x.shape()), shown(shown_of(x)) {
    const Style style(shown.to_vector());
    shown.for_each([&](auto value) { words.push_back(style.write(value)); });
    for (const std::string& word : words) width = std::max(width, word.size());
    write(0);
  }

  void write(int64_t dim) {
    if (dim == whole.dim()) {
      const std::string& word = words[next++];
      text.append(width - word.size(), ' ').append(word);
      return;
    }
    const bool rows = dim + 1 < whole.dim();
    const std::string new_line = std::string(static_cast<size_t>(rows ? whole.dim() - dim - 1 : 1), '\n') +
                                 std::string(static_cast<size_t>(dim + 1), ' ');
    const int64_t in_line =
        rows ? 1 : std::max<int64_t>((kLine - whole.dim()) / static_cast<int64_t>(width + 2), 1);
    int64_t written = 0;
    const auto separate = [&] {
      if (written > 0) text += written % in_line ? ", " : "," + new_line;
      ++written;
    };
    const int64_t size = shown.shape()[dim];
    text += '[';
    for (int64_t i = 0; i < size; ++i) {
      separate();
      if (i == kEdge && size < whole[dim]) {
        text += "...";
        separate();
      }
      write(dim + 1);
    }
    text += ']';
  }
};

}  // namespace

std::string detail::coordinates(int64_t index, const Shape& shape) {
  Shape at = shape;
  for (int64_t d = shape.dim() - 1; d >= 0; --d) {
    at[d] = index % shape[d];
    index /= shape[d];
  }
  return to_string(at);
}

std::string detail::range_text(const Tensor& x) {
  std::vector<double> values = x.to_vector<double>();
  const auto nan = std::erase_if(values, [](double value) { return std::isnan(value); });
  std::string range;
  if (!values.empty()) {
    const auto [least, most] = std::ranges::minmax(values);
    range = "from " + short_number(least) + " to " + short_number(most);
  }
  if (nan > 0) range += (range.empty() ? "with " : " with ") + std::to_string(nan) + " NaN";
  return range;
}

std::string detail::user_line(SourceLocation line) {
  return is_user_code(line) ? line.file_name() + (":" + std::to_string(line.line())) : "";
}

std::string to_string(const Tensor& x) {
  if (!x.defined()) return "an undefined tensor";
  return (x.numel() ? Printer(x).text : "[]") + " " + name_of(x.dtype()) + " " + to_string(x.shape());
}

}  // namespace heed
