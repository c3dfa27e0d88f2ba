#include "autograd/ops/linear_recurrence.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "autograd/ops/scan.h"

namespace heed {
namespace {

// factor y, for a factor that is a matrix or numbers
Tensor scaled(const Tensor& factor, const Tensor& y) {
  return factor.size(-1) > 1 ? matmul(factor, y) : factor * y;
}

// With the inverses A and D of the diagonal blocks: [[I + L_A, 0], [B, I + L_D]]^-1 = [[A, 0], [-D B A, D]].
Tensor inverse(const Tensor& x) {
  const int64_t n = x.size(-1), h = n / 2;
  if (n < 2) return ones(x.shape(), x.dtype());
  const Tensor top = narrow(x, -2, 0, h), bottom = narrow(x, -2, h, n - h);
  const Tensor a = inverse(narrow(top, -1, 0, h)), d = inverse(narrow(bottom, -1, h, n - h));
  const Tensor across = -matmul(d, matmul(narrow(bottom, -1, 0, h), a));
  return cat({pad(a, {0, n - h}), cat({across, d}, -1)}, -2);
}

}  // namespace

// A step is the map y -> f y + x. One after another they are again such a map: h (f y + x) + z = (h f) y +
// (h x + z). This is associative, so all of them are a scan.
Tensor linear_recurrence(Operand factor, Operand x, Operand start) {
  const OpScope scope("linear_recurrence", x.line());
  match_dtypes(factor, x);
  check_floating(x);
  const bool ranks = x->dim() >= 3 && factor->dim() == x->dim() && factor->size(-3) == x->size(-3);
  const auto fits = [&, columns = ranks ? factor->size(-1) : 0] {
    const auto rows = [](const Tensor& y) { return Shape(y.shape().data(), y.dim() - 1); };
    return broadcasts_to(rows(factor), rows(x)) &&
           (columns == 1 || (columns == factor->size(-2) && columns == x->size(-2)));
  };
  check(ranks && fits(), "the factor is ", factor->shape(), ", x is ", x->shape(),
        "; they must be [..., n, k, k], [..., n, k, 1] or [..., n, 1, 1], and [..., n, k, m]");
  Shape state = x->shape();
  state.erase(x->dim() - 3);
  check_parameter("the start", start, state, x);

  using Maps = std::vector<Tensor>;
  const auto join = [](const Maps& first, const Maps& then) -> Maps {
    return {scaled(then[0], first[0]), scaled(then[0], first[1]) + then[1]};
  };
  const Maps maps = associative_scan(join, Maps{factor, x}, -3);
  const Tensor from = unsqueeze(start.defined() ? start.tensor() : zeros(state, x->dtype()), -3);
  return cat({from, start.defined() ? maps[1] + scaled(maps[0], from) : maps[1]}, -3);
}

// y = (I + L)^-1   =>   dL = -y^T g y^T below the diagonal
Tensor unit_lower_inverse(Operand x) {
  const OpScope scope("unit_lower_inverse", x.line());
  check_floating(x);
  check(x->dim() >= 2 && x->size(-1) == x->size(-2), "x is ", x->shape(), "; its matrices must be square");
  const auto values = [&] {
    const NoGrad guard;
    return inverse(x);
  };
  return record("unit_lower_inverse", values(),
                {{x, "−$yᵀ g $yᵀ below the diagonal", [](const Tensor& g, const Tensor& y) {
                    return -tril(matmul(matmul(transpose(y), g), transpose(y)), -1);
                  }}});
}

}  // namespace heed
