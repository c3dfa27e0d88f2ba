#include "tensor/kernels/matmul.h"

#include "autograd/node.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/shape.h"
#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

void check_operands(Operand& a, Operand& b) {
  adopt(a, b);
  check_floating(a);
}

void check_rank(const Operand& a, const char* name, int64_t rank) {
  check(a->dim() == rank, name, " is ", a->shape(), "; it must have ", rank,
        rank == 1 ? " dimension" : " dimensions", a->dim() > 0 ? ", matmul takes other ranks" : "");
}

void check_ranks(Operand& a, int64_t rank_a, Operand& b, int64_t rank_b) {
  check_operands(a, b);
  check_rank(a, "a", rank_a);
  check_rank(b, "b", rank_b);
}

// The last size of a meets the second-to-last of b, or the only one.
void check_inner(const Tensor& a, const Tensor& b) {
  check(a.shape().back() == b.shape()[std::max<int64_t>(b.dim() - 2, 0)], "inner sizes differ: a is ",
        a.shape(), ", b is ", b.shape(), "; a's last size must equal b's ",
        b.dim() == 1 ? "only one" : "second-to-last (transpose(b)?)");
}

// All leading dimensions in one: [..., k] -> [N, k].
Tensor rows(const Tensor& x) {
  if (x.dim() == 2) return x;
  const int64_t last = x.dim() - 1;
  return reshape(x, {numel(Shape(x.shape().data(), last)), x.shape()[last]});
}

// a [..., n, k], b [..., k, m]:   y = a b,   da = g b^T,   db = a^T g
// Where one matrix b serves all of a, its gradient is one long product instead of a sum over many.
Tensor product(const char* op, const Operand& a, const Operand& b) {
  return record(op, kernel::matmul(a, b),
                {{a, [b = save(b)](const Tensor& g) { return matmul(g, transpose(b())); }},
                 {b, [a = save(a), one = b->dim() == 2](const Tensor& g) {
                    if (one) return matmul(transpose(rows(a())), rows(g));
                    return matmul(transpose(a()), g);
                  }}});
}

Tensor times_vector(const char* op, Operand& a, int64_t rank, Operand& b) {
  const Calling here(op, a.line());
  check_ranks(a, rank, b, 1);
  check_inner(a, b);
  return matmul(a, b);
}

}  // namespace

Tensor mm(Operand a, Operand b) {
  const Calling here("mm", a.line());
  check_ranks(a, 2, b, 2);
  check_inner(a, b);
  return product("mm", a, b);
}

Tensor bmm(Operand a, Operand b) {
  const Calling here("bmm", a.line());
  check_ranks(a, 3, b, 3);
  check(a->shape()[0] == b->shape()[0], "a is ", a->shape(), ", b is ", b->shape(),
        "; their first sizes must be equal (matmul broadcasts them)");
  check_inner(a, b);
  return product("bmm", a, b);
}

Tensor mv(Operand a, Operand b) { return times_vector("mv", a, 2, b); }
Tensor dot(Operand a, Operand b) { return times_vector("dot", a, 1, b); }

// a [n], b [m]:   y_ij = a_i b_j
Tensor outer(Operand a, Operand b) {
  const Calling here("outer", a.line());
  check_ranks(a, 1, b, 1);
  return product("outer", {unsqueeze(a, 1), a.line()}, {unsqueeze(b, 0), b.line()});
}

// A vector is a row on the left and a column on the right, which the result leaves out.
Tensor matmul(Operand a, Operand b) {
  const Calling here("matmul", a.line());
  check_operands(a, b);
  check(a->dim() > 0 && b->dim() > 0, "a is ", a->shape(), ", b is ", b->shape(),
        "; both need a dimension to sum over, a * b multiplies by a number");
  check_inner(a, b);
  const bool row = a->dim() == 1, column = b->dim() == 1;
  if (row) a.become(unsqueeze(a, 0));
  if (column) b.become(unsqueeze(b, 1));
  if (a->dim() > 2 && b->dim() > 2)
    broadcast_shapes(Shape(a->shape().data(), a->dim() - 2), Shape(b->shape().data(), b->dim() - 2),
                     "the batch of a", "the batch of b");
  Tensor y = product("matmul", a, b);
  if (column) y = squeeze({y, a.line()}, -1);
  return row ? squeeze({y, a.line()}, column ? -1 : -2) : y;
}

// y = beta x + alpha a b;   with beta = 0, x counts for nothing, NaN included
Tensor addmm(Operand x, Operand a, Operand b, double beta, double alpha) {
  const Calling here("addmm", x.line());
  check_ranks(a, 2, b, 2);
  adopt(x, a);
  check_inner(a, b);
  const Shape shape{a->shape()[0], b->shape()[1]};
  check(broadcast_shapes(x->shape(), shape, "x", "the product") == shape, "x is ", x->shape(),
        ", the product ", shape, "; x must broadcast to it");
  const Tensor start = beta == 0 ? Tensor() : kernel::mul(x, kernel::full({}, beta, x->dtype()));
  return record("addmm", kernel::matmul(a, b, start, alpha),
                {{x, [beta](const Tensor& g) { return beta * g; }},
                 {a, [b = save(b), alpha](const Tensor& g) { return alpha * mm(g, transpose(b())); }},
                 {b, [a = save(a), alpha](const Tensor& g) { return alpha * mm(transpose(a()), g); }}});
}

// x [..., in], weight [out, in], bias [out]:   y = x W^T + b
//   dx = g W,   dW = g^T x over all rows,   db = sum of g over all rows (the broadcasting undone)
Tensor linear(Operand x, Operand weight, Operand bias) {
  const Calling here("linear", x.line());
  check_operands(x, weight);
  check(x->dim() > 0, "x is a scalar; its last dimension must hold the features");
  check_rank(weight, "the weight", 2);
  check(x->shape().back() == weight->shape()[1], "x is ", x->shape(), ", the weight ", weight->shape(),
        " for ", weight->shape()[1], " features in and ", weight->shape()[0], " out; x's last size must be ",
        weight->shape()[1]);
  const int64_t out = weight->shape()[0];
  if (bias.defined() || bias.is_number()) {
    adopt(bias, weight);
    check(bias->shape() == Shape{out}, "the bias is ", bias->shape(), ", the weight ", weight->shape(),
          "; the bias must be [", out, "]");
  }

  const Tensor w =
      TensorBody::view(weight, {weight->shape()[1], out}, {weight->strides()[1], weight->strides()[0]});
  const Tensor wide =
      x->dim() > 1 ? x.tensor() : TensorBody::view(x, {1, x->numel()}, {x->numel(), x->strides()[0]});
  Tensor y = kernel::matmul(wide, w, bias);
  if (x->dim() == 1) y = TensorBody::view(y, {out});
  return record("linear", std::move(y),
                {{x, [w = save(weight)](const Tensor& g) { return matmul(g, w()); }},
                 {weight, [x = save(x)](const Tensor& g) { return mm(transpose(rows(g)), rows(x())); }},
                 {bias, [](const Tensor& g) { return g; }}});
}

}  // namespace heed
