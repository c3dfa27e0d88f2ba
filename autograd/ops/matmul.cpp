#include "tensor/kernels/matmul.h"

#include "autograd/node.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/shape.h"
#include "tensor/aligned.h"
#include "tensor/kernels/transposed_weights.h"

namespace heed {

void detail::check_inner(const Tensor& a, const Tensor& b) {
  const auto second = [](const Tensor& x) { return x.shape()[std::max<int64_t>(x.dim() - 2, 0)]; };
  const int64_t k = a.shape().back();
  check(k == second(b), "inner sizes differ: a is ", a.shape(), ", b is ", b.shape(),
        "; a's last size must equal b's ", b.dim() == 1 ? "only one" : "second-to-last",
        b.dim() > 1 && k == b.shape().back()    ? " (transpose(b)?)"
        : a.dim() > 1 && second(a) == second(b) ? " (transpose(a)?)"
                                                : "",
        Aligned{"a", a.shape(), "b", b.shape(), Aligned::Marks::last, b.dim() > 1});
}

// The rows of all matrices in one: [..., k] -> [N, k].
static Tensor rows(const Tensor& x) {
  if (x.dim() == 2) return x;
  return x.dim() > 2 ? flatten(x, 0, -2) : unsqueeze(x, 0);
}

// da = g b^T,  db = a^T g;   db is one product over all rows of a where all of them are multiplied by one
// matrix b
Tensor detail::matrix_product(const char* op, const Operand& a, const Operand& b) {
  return record(op, kernel::matmul(a, b),
                {{a, "g $2ᵀ", [b = save(b)](const Tensor& g) { return matmul(g, transpose(b())); }},
                 {b, "$1ᵀ g", [a = save(a), one = b->dim() == 2](const Tensor& g) {
                    return one ? matmul(transpose(rows(a())), rows(g)) : matmul(transpose(a()), g);
                  }}});
}

Tensor matmul(Operand a, Operand b) {
  const OpScope scope("matmul", a.line());
  match_dtypes(a, b);
  check_floating(a);
  check(a->dim() > 0 && b->dim() > 0, "a is ", a->shape(), ", b is ", b->shape(),
        "; both need a dimension to sum over, a * b multiplies by a number");
  detail::check_inner(a, b);
  const bool row = a->dim() == 1, column = b->dim() == 1;
  if (row) a.assign(unsqueeze(a, 0));
  if (column) b.assign(unsqueeze(b, 1));
  if (a->dim() > 2 && b->dim() > 2)
    broadcast_shapes(kernel::leading(a), kernel::leading(b), "the batch of a", "the batch of b");
  Tensor y = detail::matrix_product("matmul", a, b);
  if (column) y = squeeze(y, -1);
  return row ? squeeze(y, column ? -1 : -2) : y;
}

// dx = g W,  dW = g^T x over all rows,  db = g (the engine sums it over the rows)
Tensor linear(Operand x, Operand weight, Operand bias) {
  const OpScope scope("linear", x.line());
  if (!x.is_number() && !weight.is_number() && x->dtype() != weight->dtype())
    fail("x is ", x->dtype(), " ", x->shape(), ", the weight ", weight->dtype(), " ", weight->shape(),
         "; convert x with to(x, ", weight->dtype(), ")",
         is_floating(x->dtype()) ? ", or the module with its to(" + to_string(x->dtype()) + ")" : "");
  match_dtypes(x, weight);
  check_floating(x);
  check(x->dim() > 0, "x is a scalar; its last dimension must hold the features");
  check(weight->dim() == 2, "the weight is ", weight->shape(), "; it must have 2 dimensions");
  const int64_t out = weight->shape()[0], in = weight->shape()[1];
  check(x->shape().back() == in, "x is ", x->shape(), ", the weight ", weight->shape(), " for ", in,
        " features in and ", out, " out; x's last size must be ", in,
        Aligned{"x", x->shape(), "the weight", weight->shape(), Aligned::Marks::last});
  if (bias.defined() || bias.is_number()) {
    match_dtypes(bias, weight);
    check(bias->shape() == Shape{out}, "the bias is ", bias->shape(), ", the weight ", weight->shape(),
          "; the bias must be [", out, "]");
  }
  const Tensor matrix = x->dim() > 1 ? x.tensor() : unsqueeze(x->detach(), 0);
  const bool recorded = heed::grad_enabled() && weight->requires_grad();
  Tensor y = kernel::matmul(matrix, kernel::transposed_weight(weight, matrix, !recorded), bias);
  if (x->dim() == 1) y = TensorImpl::view(y, {out});
  return record(
      "linear", std::move(y),
      {{x, "g $2", [w = save(weight)](const Tensor& g) { return matmul(g, w()); }},
       {weight, "gᵀ $1", [x = save(x)](const Tensor& g) { return matmul(transpose(rows(g)), rows(x())); }},
       {bias, "Σ of g over the rows", [](const Tensor& g) { return g; }}});
}

}  // namespace heed
