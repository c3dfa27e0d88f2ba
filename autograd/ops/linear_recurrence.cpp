#include "autograd/ops/linear_recurrence.h"

#include "autograd/node.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/shape.h"
#include "tensor/create.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"

namespace heed {
namespace {

bool has_matrices(const Tensor& factor) { return factor.size(-1) > 1; }

// y_0 = start, y_{t+1} = f_t y_t + x_t; in reverse y_n = start, y_t = f_t y_{t+1} + x_t.
Tensor scan(const Tensor& factor, const Tensor& x, const Tensor& start, bool reverse) {
  const NoGrad guard;
  const int64_t n = x.size(-3);
  Shape shape = x.shape();
  ++shape[x.dim() - 3];
  const Tensor y = Tensor::empty(shape, x.dtype());
  const auto step = [](const Tensor& all, int64_t t) { return select(all, -3, t); };  // [..., k, m]
  const Tensor first = step(y, reverse ? n : 0);
  start.defined() ? kernel::copy_into(first, start) : kernel::fill(first, 0);
  for (int64_t done = 0; done < n; ++done) {
    const int64_t t = reverse ? n - 1 - done : done;
    const Tensor f = step(factor, t), from = step(y, t + reverse), to = step(y, t + !reverse);
    if (has_matrices(factor)) {
      kernel::copy_into(to, kernel::matmul(f, from, step(x, t)));
    } else {
      visit_floating(y.dtype(), [&]<class T>(Type<T>) {
        kernel::apply<T, T, T, T>([](auto a, auto b, auto c) { return a * b + c; }, to, f, from, step(x, t));
      });
    }
  }
  return y;
}

// Row i is e_i minus the sum over j < i of x_ij times row j. n rows of n numbers; out starts as 0.
template <class T>
void forward_substitution(int64_t n, const T* x, T* out) {
  for (int64_t i = 0; i < n; ++i) {
    T* row = out + i * n;
    row[i] = 1;
    for (int64_t j = 0; j < i; ++j) {
      const T factor = -x[i * n + j];
      const T* other = out + j * n;
      HEED_VECTORIZE
      for (int64_t l = 0; l <= j; ++l) row[l] += factor * other[l];
    }
  }
}

}  // namespace

// With the gradient d_t of y_t, all its ways into g included: d_n = g_n, d_t = g_t + factor_t^T d_{t+1};
// dx_t = d_{t+1},  dfactor_t = d_{t+1} y_t^T,  dstart = d_0
Tensor linear_recurrence(Operand factor, Operand x, Operand start) {
  const OpScope scope("linear_recurrence", x.line());
  match_dtypes(factor, x);
  check_floating(x);
  const auto fits = [&] {
    if (x->dim() < 3 || factor->dim() != x->dim() || factor->size(-3) != x->size(-3)) return false;
    const int64_t k = x->size(-2), rows = factor->size(-2), columns = factor->size(-1);
    bool leads = true;
    for (int64_t d = 0; d < x->dim() - 3; ++d)
      leads &= factor->shape()[d] == 1 || factor->shape()[d] == x->shape()[d];
    return leads && (columns == 1 ? rows == 1 || rows == k : rows == k && columns == k);
  };
  check(fits(), "the factor is ", factor->shape(), ", x is ", x->shape(),
        "; they must be [..., n, k, k], [..., n, k, 1] or [..., n, 1, 1], and [..., n, k, m]");
  Shape first = x->shape();
  first.erase(x->dim() - 3);
  check_parameter("the start", start, first, x);

  const ReferenceFunction reference = [first](const std::vector<Tensor>& in) {
    std::vector<Tensor> states{in[2].defined() ? in[2] : zeros(first, in[1].dtype())};
    for (int64_t t = 0; t < in[1].size(-3); ++t) {
      const Tensor f = select(in[0], -3, t), y = states.back();
      states.push_back((has_matrices(f) ? matmul(f, y) : f * y) + select(in[1], -3, t));
    }
    return stack(states, -3);
  };
  if (reference_mode()) return reference({factor, x, start});

  return record("linear_recurrence", scan(factor, x, start, false), {factor, x, start},
                [n = x->size(-3), factor = save(factor), learned = factor.requires_grad()](const Tensor& g,
                                                                                           const Tensor& y) {
                  const Tensor f = factor();
                  const bool matrices = has_matrices(f);
                  const Tensor d =
                      scan(matrices ? transpose(f) : f, narrow(g, -3, 0, n), select(g, -3, n), true);
                  const Tensor later = narrow(d, -3, 1, n), earlier = narrow(y, -3, 0, n);
                  return Gradients{!learned   ? Tensor()
                                   : matrices ? kernel::matmul(later, transpose(earlier))
                                              : kernel::mul(later, earlier),
                                   later, select(d, -3, 0)};
                },
                reference, nullptr, {},
                {"d = g + $1ᵀ d of the next step: d yᵀ", "d of the next step", "d of the first step"});
}

// y = (I + L)^-1   =>   dL = -y^T g y^T below the diagonal
Tensor unit_lower_inverse(Operand x) {
  const OpScope scope("unit_lower_inverse", x.line());
  check_floating(x);
  check(x->dim() >= 2 && x->size(-1) == x->size(-2), "x is ", x->shape(), "; its matrices must be square");
  const int64_t n = x->size(-1);
  const Tensor dense = kernel::contiguous(x);
  Tensor y = kernel::full(x->shape(), 0, x->dtype());
  visit_floating(x->dtype(), [&]<class T>(Type<T>) {
    const T* from = dense.data<T>();
    T* to = kernel::detail::first_of<T>(y);
    kernel::each_row(x->numel() / std::max<int64_t>(1, n * n), n * n * n, [=](int64_t matrix) {
      kernel::at_level([=] { forward_substitution(n, from + matrix * n * n, to + matrix * n * n); });
    });
  });
  return record("unit_lower_inverse", std::move(y),
                {{x, "−$yᵀ g $yᵀ below the diagonal", [](const Tensor& g, const Tensor& inverse) {
                    const Tensor turned = transpose(inverse);
                    return -tril(matmul(matmul(turned, g), turned), -1);
                  }}});
}

}  // namespace heed
