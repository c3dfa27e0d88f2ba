#include "autograd/ops/scan.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/reduce.h"

namespace heed {
namespace {

using List = std::vector<Tensor>;
using Combine = std::function<List(const List&, const List&)>;

// combine(a, b), which must have the shapes of a.
List combined(const Combine& combine, const List& a, const List& b) {
  List ys = combine(a, b);
  check(ys.size() == a.size(), "combine gave ", ys.size(), " tensors for ", a.size());
  for (size_t i = 0; i < ys.size(); ++i)
    check(ys[i].shape() == a[i].shape() && ys[i].dtype() == a[i].dtype(), "combine gave ", ys[i].dtype(), " ",
          ys[i].shape(), " for two tensors that are ", a[i].dtype(), " ", a[i].shape(),
          "; they must be equal");
  return ys;
}

// The scan of the pairs x_0 x_1, x_2 x_3, ... is the result at positions 1, 3, ...; one combination more with
// x_2, x_4, ... gives those at 2, 4, ...
List scanned(const Combine& combine, const List& xs, int64_t dim) {
  const int64_t n = xs[0].size(dim);
  if (n < 2) return xs;
  const auto parts = [&](const List& from, int64_t start, int64_t end, int64_t step) {
    return detail::mapped(from, [&](const Tensor& x) { return slice(x, dim, start, end, step); });
  };
  const List odd = scanned(combine, combined(combine, parts(xs, 0, n - 1, 2), parts(xs, 1, n, 2)), dim);
  const List even =
      n == 2 ? parts(xs, 2, 2, 1) : combined(combine, parts(odd, 0, (n - 1) / 2, 1), parts(xs, 2, n, 2));
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i) order.push_back(i % 2 == 0 ? i / 2 : (n + 1) / 2 + i / 2);
  const Tensor positions = from_vector(order, {n});
  List ys;
  for (size_t i = 0; i < xs.size(); ++i)
    ys.push_back(index_select(cat({slice(xs[i], dim, 0, 1), even[i], odd[i]}, dim), dim, positions));
  return ys;
}

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

List detail::scan(const Combine& combine, List xs, int64_t dim, bool reverse, SourceLocation line) {
  const OpScope scope("associative_scan", line);
  check(!xs.empty(), "there are no tensors to scan");
  dim = check_dim(xs[0], dim);
  for (Tensor& x : xs) {
    check(x.size(dim) == xs[0].size(dim), "tensors of shapes ", xs[0].shape(), " and ", x.shape(),
          " differ in dimension ", dim);
    x = reverse ? flip(x, {dim}) : x.size(dim) < 2 ? clone(x) : x;
  }
  const List ys = scanned(combine, xs, dim);
  return reverse ? mapped(ys, [&](const Tensor& y) { return flip(y, {dim}); }) : ys;
}

// y_i = sum_{j <= i} x_j, or sum_{j >= i} x_j in reverse; each is the gradient of the other.
static Tensor running_sum(const Operand& x, int64_t dim, bool reverse) {
  return record("cumsum", kernel::cumsum(x, dim, reverse),
                {{x, "Σ of g over the sums that contain it",
                  [dim, reverse](const Tensor& g) { return running_sum(g, dim, !reverse); }}},
                {{"dim", dim}, {"reverse", reverse}});
}

Tensor cumsum(Operand x, Dim dim) {
  const OpScope scope("cumsum", x.line());
  return running_sum(x, check_dim(x, dim), false);
}

Tensor cumprod(Operand x, Dim dim) {
  const OpScope scope("cumprod", x.line());
  return associative_scan(std::multiplies<>(), x->dtype() == boolean ? to(x, int64) : x.tensor(), dim);
}

// Multiplies the first half by the second until one is left. The rule of a product of two is exact at zeros.
Tensor prod(Operand x, Dim dim, bool keepdim) {
  const OpScope scope("prod", x.line());
  if (x->dim() == 0) return prod(reshape(x, {1}), dim);
  dim = check_dim(x, dim);
  Tensor y = x->dtype() == boolean ? to(x, int64) : x.tensor();
  if (x->size(dim) == 0) return sum(y, dim, keepdim) + 1;  // no factors: 1, with the history of x
  for (int64_t n = x->size(dim); n > 1; n = y.size(dim)) {
    const Tensor pairs = narrow(y, dim, 0, n / 2) * narrow(y, dim, n / 2, n / 2);
    y = n % 2 == 0 ? pairs : cat({pairs, narrow(y, dim, n - 1, 1)}, dim);
  }
  return reshape(y, reduced_shape(x->shape(), {dim}, keepdim));
}

Tensor prod(Operand x) {
  const OpScope scope("prod", x.line());
  return prod(reshape(x, {-1}), 0);
}

// A step is the map y -> f y + x. One after another they are again such a map: h (f y + x) + z = (h f) y +
// (h x + z). This is associative, so all of them are a scan.
Tensor linear_recurrence(Operand factor, Operand x, Operand start) {
  const OpScope scope("linear_recurrence", x.line());
  match_dtypes(factor, x);
  check_floating(x);
  const bool ranks = x->dim() >= 3 && factor->dim() == x->dim() && factor->size(-3) == x->size(-3);
  const int64_t columns = ranks ? factor->size(-1) : 0;
  const auto rows = [](const Tensor& y) { return Shape(y.shape().data(), y.dim() - 1); };
  const bool fits = ranks && broadcasts_to(rows(factor), rows(x)) &&
                    (columns == 1 || (columns == factor->size(-2) && columns == x->size(-2)));
  check(fits, "the factor is ", factor->shape(), ", x is ", x->shape(),
        "; they must be [..., n, k, k], [..., n, k, 1] or [..., n, 1, 1], and [..., n, k, m], with the same "
        "number of dimensions and n");
  const Shape state = x->shape().erased(x->dim() - 3);
  check_parameter("the start", start, state, x);

  const auto join = [](const List& first, const List& then) -> List {
    return {scaled(then[0], first[0]), scaled(then[0], first[1]) + then[1]};
  };
  const List maps = associative_scan(join, List{factor, x}, -3);
  const Tensor from = unsqueeze(start.defined() ? start.tensor() : zeros(state, x->dtype()), -3);
  return cat({from, start.defined() ? maps[1] + scaled(maps[0], from) : maps[1]}, -3);
}

// y = (I + L)^-1   =>   dL = -y^T g y^T below the diagonal
Tensor unit_lower_inverse(Operand x) {
  const OpScope scope("unit_lower_inverse", x.line());
  check_floating(x);
  check(x->dim() >= 2 && x->size(-1) == x->size(-2), "x is ", x->shape(), "; its matrices must be square");
  return record("unit_lower_inverse", inverse(x->detach()),
                {{x, "−$yᵀ g $yᵀ below the diagonal", [](const Tensor& g, const Tensor& y) {
                    return -tril(matmul(matmul(transpose(y), g), transpose(y)), -1);
                  }}});
}

}  // namespace heed
