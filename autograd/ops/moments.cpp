#include "autograd/ops/moments.h"

#include "autograd/node.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/reduce.h"
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

Tensor stddev(Operand x, Dims dims, double correction, bool keepdim) {
  const OpScope scope("stddev", x.line());
  const Tensor v = var(x, dims, correction, keepdim);
  return where(v == 0, 0, sqrt(where(v == 0, 1, v)));
}

}  // namespace heed
