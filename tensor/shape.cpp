#include "tensor/shape.h"

#include <array>

namespace heed {

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (int64_t i = 0; i < shape.dim(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

int64_t numel(const Shape& shape) {
  int64_t product = 1;
  bool overflow = false, zero = false;
  for (const int64_t size : shape) {
    check(size >= 0, "shape ", shape, ": a size is negative");
    zero |= size == 0;
    if (!zero) overflow |= __builtin_mul_overflow(product, size, &product);
  }
  if (zero) return 0;
  check(!overflow, "shape ", shape, ": too many elements");
  return product;
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  uint64_t step = 1;  // may wrap around where a size is 0 and no stride is ever used
  for (int64_t i = shape.dim() - 1; i >= 0; --i) {
    strides[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(std::max<int64_t>(shape[i], 1));
  }
  return strides;
}

// Two shapes one below the other, aligned at the right, and a mark below each pair of sizes that do not fit:
//
//     a  [8, 2, 3]
//     b     [4, 3]
//            ^
static std::string aligned(const Shape& a, const Shape& b, std::string_view name_a, std::string_view name_b) {
  const std::array<const Shape*, 2> shapes = {&a, &b};
  std::array<std::string, 3> rows = {std::string(name_a), std::string(name_b), ""};
  const size_t names = std::max(name_a.size(), name_b.size());
  for (std::string& row : rows) row = "  " + row + std::string(names - row.size() + 2, ' ');
  for (int64_t d = -std::max(a.dim(), b.dim()); d < 0; ++d) {
    std::array<std::string, 3> cells;
    std::array<int64_t, 2> sizes = {1, 1};
    for (size_t k = 0; k < 2; ++k) {
      const int64_t at = d + shapes[k]->dim();
      if (at < 0) continue;
      sizes[k] = (*shapes[k])[at];
      cells[k] = (at == 0 ? "[" : " ") + std::to_string(sizes[k]) + (d == -1 ? "]" : ",");
    }
    if (sizes[0] != sizes[1] && sizes[0] != 1 && sizes[1] != 1) cells[2] = "^ ";
    const size_t width = std::max(cells[0].size(), cells[1].size());
    for (size_t k = 0; k < 3; ++k) rows[k] += std::string(width - cells[k].size(), ' ') + cells[k];
  }
  rows[2].resize(rows[2].find_last_not_of(' ') + 1);
  return rows[0] + "\n" + rows[1] + "\n" + rows[2];
}

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* name_a, const char* name_b) {
  Shape result = a.dim() >= b.dim() ? a : b;
  const Shape& shorter = a.dim() >= b.dim() ? b : a;
  const int64_t lead = result.dim() - shorter.dim();
  for (int64_t i = 0; i < shorter.dim(); ++i) {
    const int64_t m = result[lead + i], n = shorter[i];
    if (m != n && m != 1 && n != 1)
      fail(name_a, " is ", a, ", ", name_b, " is ", b,
           ": they do not broadcast; aligned at the right, sizes must be equal or 1, and ", m, " meets ", n,
           "\n", aligned(a, b, name_a, name_b));
    if (m == 1) result[lead + i] = n;
  }
  return result;
}

int64_t check_dim(int64_t rank, int64_t dim) {
  const int64_t limit = std::max<int64_t>(rank, 1);  // a scalar answers to dim 0 and -1
  check(-limit <= dim && dim < limit, "dim ", dim, " is out of range for a tensor of rank ", rank, ": use ",
        -limit, " to ", limit - 1);
  return dim < 0 ? dim + limit : dim;
}

Shape check_dims(int64_t rank, const Shape& dims) {
  Shape sorted = dims;
  if (dims.empty())
    for (int64_t i = 0; i < rank; ++i) sorted.push_back(i);
  for (int64_t& dim : sorted) dim = check_dim(rank, dim);
  std::sort(sorted.begin(), sorted.end());
  check(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "dims ", dims,
        " name the same dimension twice");
  return rank > 0 ? sorted : Shape();
}

Shape reduced_shape(const Shape& shape, const Shape& dims, bool keepdim) {
  Shape result;
  for (int64_t i = 0; i < shape.dim(); ++i) {
    const bool reduced = std::find(dims.begin(), dims.end(), i) != dims.end();
    if (keepdim || !reduced) result.push_back(reduced ? 1 : shape[i]);
  }
  return result;
}

}  // namespace heed
