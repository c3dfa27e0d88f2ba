#include "tensor/kernels/matmul.h"

#include "autograd/node.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/shape.h"
#include "tensor/aligned.h"
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
  const auto second = [](const Tensor& x) { return x.shape()[std::max<int64_t>(x.dim() - 2, 0)]; };
  const int64_t k = a.shape().back();
  check(k == second(b), "inner sizes differ: a is ", a.shape(), ", b is ", b.shape(),
        "; a's last size must equal b's ", b.dim() == 1 ? "only one" : "second-to-last",
        b.dim() > 1 && k == b.shape().back()    ? " (transpose(b)?)"
        : a.dim() > 1 && second(a) == second(b) ? " (transpose(a)?)"
                                                : "",
        Aligned{"a", a.shape(), "b", b.shape(), Aligned::Marks::last, b.dim() > 1});
}

// All leading dimensions in one: [..., k] -> [N, k].
Tensor rows(const Tensor& x) {
  if (x.dim() == 2) return x;
  return x.dim() > 2 ? flatten(x, 0, -2) : unsqueeze(x, 0);
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

// Two matrices, or two batches of as many.
Tensor of_one_rank(const char* op, Operand& a, Operand& b, int64_t rank) {
  const OpScope scope(op, a.line());
  check_ranks(a, rank, b, rank);
  check(rank == 2 || a->shape()[0] == b->shape()[0], "a is ", a->shape(), ", b is ", b->shape(),
        "; their first sizes must be equal (matmul broadcasts them)");
  check_inner(a, b);
  return product(op, a, b);
}

Tensor times_vector(const char* op, Operand& a, int64_t rank, Operand& b) {
  const OpScope scope(op, a.line());
  check_ranks(a, rank, b, 1);
  check_inner(a, b);
  return matmul(a, b);
}

}  // namespace

Tensor mm(Operand a, Operand b) { return of_one_rank("mm", a, b, 2); }
Tensor bmm(Operand a, Operand b) { return of_one_rank("bmm", a, b, 3); }
Tensor mv(Operand a, Operand b) { return times_vector("mv", a, 2, b); }
Tensor dot(Operand a, Operand b) { return times_vector("dot", a, 1, b); }

// a [n], b [m]:   y_ij = a_i b_j
Tensor outer(Operand a, Operand b) {
  const OpScope scope("outer", a.line());
  check_ranks(a, 1, b, 1);
  return product("outer", unsqueeze(a, 1), unsqueeze(b, 0));
}

// A vector is a row on the left and a column on the right, which the result leaves out.
Tensor matmul(Operand a, Operand b) {
  const OpScope scope("matmul", a.line());
  check_operands(a, b);
  check(a->dim() > 0 && b->dim() > 0, "a is ", a->shape(), ", b is ", b->shape(),
        "; both need a dimension to sum over, a * b multiplies by a number");
  check_inner(a, b);
  const bool row = a->dim() == 1, column = b->dim() == 1;
  if (row) a.become(unsqueeze(a, 0));
  if (column) b.become(unsqueeze(b, 1));
  if (a->dim() > 2 && b->dim() > 2)
    broadcast_shapes(kernel::leading(a), kernel::leading(b), "the batch of a", "the batch of b");
  Tensor y = product("matmul", a, b);
  if (column) y = squeeze(y, -1);
  return row ? squeeze(y, column ? -1 : -2) : y;
}

// y = beta x + alpha a b;   with beta = 0, x counts for nothing, NaN included
Tensor addmm(Operand x, Operand a, Operand b, double beta, double alpha) {
  const OpScope scope("addmm", x.line());
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

Tensor TransposedWeightCache::transposed(const Tensor& weight) {
  const TensorImpl& body = TensorImpl::of(weight);
  const auto view = [&] {
    return TensorImpl::view(weight, {body.shape[1], body.shape[0]}, {body.strides[1], body.strides[0]});
  };
  if (!current_ || !kernel::has_own_product(body.dtype)) return view();
  std::vector<Entry>& entries = current_->entries_;
  const auto is_of = [&](const Entry& entry) {
    const TensorImpl& met = TensorImpl::of(entry.weight);
    return met.storage.get() == body.storage.get() && met.offset == body.offset && met.shape == body.shape &&
           met.strides == body.strides;
  };
  size_t& at = current_->next_;
  if (at >= entries.size() || !is_of(entries[at]))
    at = static_cast<size_t>(std::ranges::find_if(entries, is_of) - entries.begin());
  if (at == entries.size()) {
    std::erase_if(entries, [](const Entry& entry) { return TensorImpl::of(entry.weight).storage.unique(); });
    at = entries.size();
    entries.push_back({weight.detach(), -1, {}});
  }
  Entry& entry = entries[at++];
  if (entry.version != body.storage->version) entry.turned = kernel::clone(view());
  entry.version = body.storage->version;
  return entry.turned;
}

// x [..., in], weight [out, in], bias [out]:   y = x W^T + b
//   dx = g W,   dW = g^T x over all rows,   db = sum of g over all rows (the broadcasting undone)
Tensor linear(Operand x, Operand weight, Operand bias) {
  const OpScope scope("linear", x.line());
  if (!x.is_number() && !weight.is_number())
    check(x->dtype() == weight->dtype(), "x is ", x->dtype(), " ", x->shape(), ", the weight ",
          weight->dtype(), " ", weight->shape(), "; convert x with to(x, ", weight->dtype(),
          "), or the module with its to(", x->dtype(), ")");
  check_operands(x, weight);
  check(x->dim() > 0, "x is a scalar; its last dimension must hold the features");
  check_rank(weight, "the weight", 2);
  const int64_t out = weight->shape()[0], in = weight->shape()[1];
  check(x->shape().back() == in, "x is ", x->shape(), ", the weight ", weight->shape(), " for ", in,
        " features in and ", out, " out; x's last size must be ", in,
        Aligned{"x", x->shape(), "the weight", weight->shape(), Aligned::Marks::last});
  if (bias.defined() || bias.is_number()) {
    adopt(bias, weight);
    check(bias->shape() == Shape{out}, "the bias is ", bias->shape(), ", the weight ", weight->shape(),
          "; the bias must be [", out, "]");
  }

  const Tensor w = TransposedWeightCache::transposed(weight);
  const Tensor wide = x->dim() > 1 ? x.tensor() : unsqueeze(x->detach(), 0);
  Tensor y = kernel::matmul(wide, w, bias);
  if (x->dim() == 1) y = TensorImpl::view(y, {out});
  return record("linear", std::move(y),
                {{x, [w = save(weight)](const Tensor& g) { return matmul(g, w()); }},
                 {weight, [x = save(x)](const Tensor& g) { return mm(transpose(rows(g)), rows(x())); }},
                 {bias, [](const Tensor& g) { return g; }}});
}

}  // namespace heed
