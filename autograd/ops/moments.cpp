#include "autograd/ops/moments.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "autograd/ops/elementwise.h"
#include "tensor/kernels/reduce.h"

namespace heed {

// y = sum_i (x_i - mean)^2 / f with f = max(0, n - correction).   dx_i = g 2 (x_i - mean) / f
Tensor var(Operand x, Dims dims, double correction, bool keepdim) {
  const OpScope scope("var", x.line());
  check_floating(x);
  dims = check_dims(x->dim(), dims);
  double f = 1;
  for (const int64_t d : dims) f *= static_cast<double>(x->shape()[d]);
  f = std::max(0.0, f - correction);
  auto rule = [dims, f, x = save(x)](const Tensor& g) {
    return detail::expand_reduced(g, x().shape(), dims) * (2 / f) * (x() - mean(x(), dims, true));
  };
  return record("var", kernel::var(x, dims, f, keepdim),
                {{x, "2 g ($1 − mean) / (n − correction)", std::move(rule)}},
                {{"dims", dims}, {"correction", correction}, {"keepdim", keepdim}});
}

// x^p for x >= 0, with gradient 0 at 0.
static Tensor power(const Tensor& x, double p) {
  const Tensor zero = x == 0, base = where(zero, 1, x);
  return where(zero, p > 0 ? 0 : INFINITY, p == 0.5 ? sqrt(base) : pow(base, p));
}

Tensor norm(Operand x, double p, Dims dims, bool keepdim) {
  const OpScope scope("norm", x.line());
  check_floating(x);
  check(!std::isnan(p), "p is NaN");
  if (p < 0) detail::check_nonempty(x, dims = check_dims(x->dim(), dims));
  if (p == 2) return power(sum(square(x), dims, keepdim), 0.5);
  if (p == 0) return sum(where(x == 0, sign(x), 1), dims, keepdim);
  const Tensor size = abs(x);
  if (std::isinf(p)) return p > 0 ? amax(size, dims, keepdim) : amin(size, dims, keepdim);
  return p == 1 ? sum(size, dims, keepdim) : power(sum(power(size, p), dims, keepdim), 1 / p);
}

Tensor stddev(Operand x, Dims dims, double correction, bool keepdim) {
  const OpScope scope("stddev", x.line());
  return power(var(x, dims, correction, keepdim), 0.5);
}

}  // namespace heed
