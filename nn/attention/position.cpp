#include "nn/attention/position.h"

#include "autograd/ops/basic.h"

namespace heed {

static void check_positions(const char* name, const Tensor& x, int64_t width, int64_t offset) {
  const OpScope scope(name);
  check_floating(x);
  check(x.dim() >= 2 && x.size(-1) == width, "x is ", x.shape(), "; it must be [..., T, ", width, "]");
  check(offset >= 0, "the first position is ", offset, "; positions count from 0");
}

constexpr int64_t kMaxCached = 1 << 14;  // positions

Tensor detail::angles(const Tensor& positions, int64_t width, double base) {
  const auto E = static_cast<double>(width);
  return unsqueeze(to(positions, float64), 1) * exp(arange(0, E, 2, float64) * (-std::log(base) / E));
}

Tensor SinusoidalPosition::table(int64_t length, int64_t offset, DType dtype) const {
  check_in("SinusoidalPosition", length >= 0 && offset >= 0, length, " positions from ", offset,
           " on; neither may be negative");
  check_in("SinusoidalPosition", is_floating(dtype), "a table of ", dtype, "; sines need float32 or float64");
  const auto rows = [&](int64_t first, int64_t count) {
    const Tensor angle = detail::angles(arange(count, int64) + first, embed_dim);
    return heed::to(narrow(flatten(stack({sin(angle), cos(angle)}, -1), 1), 1, 0, embed_dim), dtype);
  };
  if (offset > kMaxCached - length || Observer::any()) return rows(offset, length);  // they see the formula
  const std::lock_guard guard(cache_.lock);
  Tensor& table = cache_.table;
  if (!table.defined() || table.dtype() != dtype || table.size(0) < offset + length)
    table = rows(0, std::min(kMaxCached, 2 * (offset + length)));
  return narrow(table, 0, offset, length);
}

Tensor SinusoidalPosition::forward(const Tensor& x, int64_t offset) const {
  check_positions("SinusoidalPosition", x, embed_dim, offset);
  return x + table(x.size(-2), offset, x.dtype());
}

Tensor LearnedPosition::forward(const Tensor& x, int64_t offset) const {
  check_positions("LearnedPosition", x, weight.size(1), offset);
  const int64_t length = x.size(-2), most = weight.size(0);
  check_in("LearnedPosition", offset <= most && length <= most - offset, "x ", x.shape(),
           " has positions up to ", offset, " + ", length, ", and max_length is ", most);
  return x + narrow(weight, 0, offset, length);
}

RotaryPosition::RotaryPosition(int64_t width, RotaryOptions options) : dim(width), options(options) {
  check_in("RotaryPosition", dim > 0 && dim % 2 == 0, "dim is ", dim,
           "; it must be even and positive: pairs are rotated");
  check_in("RotaryPosition",
           options.base > 0 && options.position_factor > 0 && options.ntk_factor > 0 &&
               (dim > 2 || options.ntk_factor == 1),
           "base is ", options.base, ", position_factor ", options.position_factor, ", ntk_factor ",
           options.ntk_factor, "; they must be positive, and ntk_factor 1 if dim is 2");
}

// (a, b) -> (a cos - b sin, b cos + a sin)
Tensor RotaryPosition::forward(const Tensor& x, int64_t offset) const {
  check_positions("RotaryPosition", x, dim, offset);
  const auto D = static_cast<double>(dim);
  const double base = options.base * (dim > 2 ? std::pow(options.ntk_factor, D / (D - 2)) : 1);
  const Tensor angle =
      detail::angles(arange(x.size(-2), int64) + offset, dim, base) / options.position_factor;
  const Tensor c = heed::to(cos(angle), x.dtype()), s = heed::to(sin(angle), x.dtype());
  const Tensor a = slice(x, -1, 0, dim, 2), b = slice(x, -1, 1, dim, 2);
  return flatten(stack({a * c - b * s, b * c + a * s}, -1), -2);
}

}  // namespace heed
