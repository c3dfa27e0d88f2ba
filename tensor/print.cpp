#include "tensor/create.h"
#include "tensor/kernels/index.h"
#include "tensor/table.h"

namespace heed {
namespace {

constexpr int64_t kMaxShown = 1000;  // elements; the middle of larger tensors is left out
constexpr int64_t kEdge = 3;         // positions shown at both ends of each of their dimensions
constexpr int64_t kLineWidth = 100;  // characters

// The printf format of all floating-point values of a tensor: one for all, so that they form columns.
const char* format_for(const std::vector<double>& values) {
  bool whole = true;
  double smallest = INFINITY, largest = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    whole = whole && value == std::trunc(value);
    if (value != 0) smallest = std::min(smallest, std::fabs(value));
    largest = std::max(largest, std::fabs(value));
  }
  if (largest >= 1e8 || (!whole && (largest >= 1e5 || smallest < 1e-4))) return "%.4e";
  return whole ? "%.0f" : "%.4f";
}

std::string word_for(bool value, const char*) { return value ? "true" : "false"; }
std::string word_for(int64_t value, const char*) { return std::to_string(value); }
std::string word_for(double value, const char* format) {
  return std::isnan(value) ? "nan" : detail::formatted(format, value);  // printf may add a sign to nan
}

// x, or the edges of all dimensions if x is large.
Tensor shown_part(const Tensor& x) {
  Tensor shown = x;
  while (x.numel() > kMaxShown) {  // the longest dimension first, so that little is copied
    const auto longest = std::ranges::max_element(shown.shape());
    if (*longest <= 2 * kEdge) break;
    std::vector<int64_t> edges;
    for (int64_t i = 0; i < 2 * kEdge; ++i) edges.push_back(i < kEdge ? i : *longest - 2 * kEdge + i);
    shown = kernel::index_select(shown, longest - shown.shape().begin(), from_vector(edges, {2 * kEdge}));
  }
  return shown;
}

struct Printer {
  const Shape& whole;
  const Tensor shown;
  std::string text;
  std::vector<std::string> words;
  size_t width = 0;  // of the longest word
  size_t next = 0;   // index of the next word to write

  explicit Printer(const Tensor& x) : whole(x.shape()), shown(shown_part(x)) {
    const char* const format = format_for(shown.to_vector());
    shown.for_each([&](auto value) { words.push_back(word_for(value, format)); });
    for (const std::string& word : words) width = std::max(width, word.size());
    for (std::string& word : words) word.insert(0, width - word.size(), ' ');
    write(0);
  }

  void write(int64_t dim) {
    if (dim == whole.dim()) return void(text += words[next++]);
    const bool is_last = dim + 1 == whole.dim();
    const auto lines = static_cast<size_t>(is_last ? 1 : whole.dim() - dim - 1);
    const std::string new_line = std::string(lines, '\n') + std::string(static_cast<size_t>(dim + 1), ' ');
    const int64_t per_line =
        is_last ? std::max<int64_t>((kLineWidth - whole.dim()) / static_cast<int64_t>(width + 2), 1) : 1;
    int64_t written = 0;
    const auto separate = [&] {
      if (written > 0) text += written % per_line ? ", " : "," + new_line;
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
  for (int64_t d = shape.dim() - 1; d >= 0; --d) at[d] = std::exchange(index, index / shape[d]) % shape[d];
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
