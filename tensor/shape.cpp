#include "tensor/shape.h"

#include "tensor/aligned.h"
#include "tensor/lists.h"

namespace heed {

std::string to_string(const Shape& shape) { return "[" + detail::listed(shape) + "]"; }

int64_t numel(const Shape& shape) {
  int64_t product = 1;
  bool overflow = false, zero = false;
  for (const int64_t size : shape) {
    check(size >= 0, "shape ", shape, ": a size is negative");
    zero |= size == 0;
    overflow |= __builtin_mul_overflow(product, size, &product);
  }
  check(zero || !overflow, "shape ", shape, ": too many elements");
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

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* name_a, const char* name_b) {
  Shape result = a.dim() >= b.dim() ? a : b;
  const Shape& shorter = a.dim() >= b.dim() ? b : a;
  const int64_t lead = result.dim() - shorter.dim();
  for (int64_t i = 0; i < shorter.dim(); ++i) {
    const int64_t m = result[lead + i], n = shorter[i];
    check(m == n || m == 1 || n == 1, name_a, " is ", a, ", ", name_b, " is ", b,
          ": they do not broadcast; aligned at the right, sizes must be equal or 1, and ", m, " meets ", n,
          Aligned{name_a, a, name_b, b, Aligned::Marks::broadcast});
    if (m == 1) result[lead + i] = n;
  }
  return result;
}

bool broadcasts_to(const Shape& shape, const Shape& other) {
  return shape.dim() <= other.dim() &&
         std::equal(shape.begin(), shape.end(), other.end() - shape.dim(),
                    [](int64_t size, int64_t wanted) { return size == 1 || size == wanted; });
}

int64_t check_dim(int64_t rank, int64_t dim) {
  const int64_t limit = std::max<int64_t>(rank, 1);  // a scalar accepts dim 0 and -1
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
