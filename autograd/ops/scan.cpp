#include "autograd/ops/scan.h"

#include "autograd/node.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/index.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "tensor/create.h"
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
    List of;
    for (const Tensor& x : from) of.push_back(slice(x, dim, start, end, step));
    return of;
  };
  const List pairs = combined(combine, parts(xs, 0, n - 1, 2), parts(xs, 1, n, 2));
  const List odd = scanned(combine, pairs, dim);
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
  List ys = scanned(combine, xs, dim);
  for (Tensor& y : ys)
    if (reverse) y = flip(y, {dim});
  return ys;
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
  const auto product = [](const Tensor& a, const Tensor& b) { return a * b; };
  return associative_scan(product, x->dtype() == boolean ? to(x, int64) : x.tensor(), dim);
}

// Multiplies the first half by the second until one is left. The rule of a product of two is exact at zeros.
Tensor prod(Operand x, Dim dim, bool keepdim) {
  const OpScope scope("prod", x.line());
  if (x->dim() == 0) return prod(reshape(x, {1}), dim);
  dim = check_dim(x, dim);
  const Shape shape = reduced_shape(x->shape(), {dim}, keepdim);
  Tensor y = x->dtype() == boolean ? to(x, int64) : x.tensor();
  if (x->size(dim) == 0) return sum(y, dim, keepdim) + 1;  // no factors: 1, with the history of x
  for (int64_t n = x->size(dim); n > 1; n = y.size(dim)) {
    const Tensor pairs = narrow(y, dim, 0, n / 2) * narrow(y, dim, n / 2, n / 2);
    y = n % 2 == 0 ? pairs : cat({pairs, narrow(y, dim, n - 1, 1)}, dim);
  }
  return reshape(y, shape);
}

Tensor prod(Operand x) {
  const OpScope scope("prod", x.line());
  return prod(reshape(x, {-1}), 0);
}

}  // namespace heed
