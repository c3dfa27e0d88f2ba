#include "autograd/ops/products.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"

namespace heed {
namespace {

void check_rank(const Operand& x, const char* name, int64_t rank) {
  check(x->dim() == rank, name, " is ", x->shape(), "; it must have ", rank,
        rank == 1 ? " dimension" : " dimensions", x->dim() > 0 ? ", matmul takes other ranks" : "");
}

void check_ranks(Operand& a, int64_t rank_a, Operand& b, int64_t rank_b) {
  match_dtypes(a, b);
  check_floating(a);
  check_rank(a, "a", rank_a);
  check_rank(b, "b", rank_b);
}

// mm and bmm
Tensor equal_ranks(const char* op, Operand& a, Operand& b, int64_t rank) {
  const OpScope scope(op, a.line());
  check_ranks(a, rank, b, rank);
  check(rank == 2 || a->shape()[0] == b->shape()[0], "a is ", a->shape(), ", b is ", b->shape(),
        "; their first sizes must be equal (matmul broadcasts them)");
  detail::check_inner(a, b);
  return detail::matrix_product(op, a, b);
}

Tensor times_vector(const char* op, Operand& a, int64_t rank, Operand& b) {
  const OpScope scope(op, a.line());
  check_ranks(a, rank, b, 1);
  return matmul(a, b);
}

}  // namespace

Tensor mm(Operand a, Operand b) { return equal_ranks("mm", a, b, 2); }
Tensor bmm(Operand a, Operand b) { return equal_ranks("bmm", a, b, 3); }
Tensor mv(Operand a, Operand b) { return times_vector("mv", a, 2, b); }
Tensor dot(Operand a, Operand b) { return times_vector("dot", a, 1, b); }

Tensor outer(Operand a, Operand b) {
  const OpScope scope("outer", a.line());
  check_ranks(a, 1, b, 1);
  return detail::matrix_product("outer", unsqueeze(a, 1), unsqueeze(b, 0));
}

// dx = beta g,  da = alpha g b^T,  db = alpha a^T g
Tensor addmm(Operand x, Operand a, Operand b, double beta, double alpha) {
  const OpScope scope("addmm", x.line());
  check_ranks(a, 2, b, 2);
  match_dtypes(x, a);
  detail::check_inner(a, b);
  const Shape shape{a->shape()[0], b->shape()[1]};
  check(broadcast_shapes(x->shape(), shape, "x", "the product") == shape, "x is ", x->shape(),
        ", the product ", shape, "; x must broadcast to it");
  const Tensor start = beta == 0 ? Tensor() : kernel::mul(x, kernel::full({}, beta, x->dtype()));
  return record(
      "addmm", kernel::matmul(a, b, start, alpha),
      {{x, "beta g", [beta](const Tensor& g) { return beta * g; }},
       {a, "alpha g $3ᵀ", [b = save(b), alpha](const Tensor& g) { return alpha * mm(g, transpose(b())); }},
       {b, "alpha $2ᵀ g", [a = save(a), alpha](const Tensor& g) { return alpha * mm(transpose(a()), g); }}},
      {{"beta", beta}, {"alpha", alpha}});
}

}  // namespace heed
