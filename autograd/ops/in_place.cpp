#include "autograd/grad_mode.h"
#include "autograd/ops.h"
#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

void check_writable(const Operand& x) {
  check(!grad_enabled(),
        "writes in place run only under NoGrad; put `NoGrad guard;` before it, or "
        "compute a new tensor");
  check(!x.is_number(), "the first operand is a number; it must be the tensor to write to");
  for (int64_t d = 0; d < x->dim(); ++d)
    check(x->strides()[d] != 0 || x->shape()[d] <= 1, "x ", x->shape(),
          " is expanded, several of its elements are one in memory; write into a clone");
}

// What is read while x is written: a copy of it when the two share memory in any way but element by element.
Tensor apart(const Tensor& x, const Tensor& source) {
  check(broadcast_shapes(x.shape(), source.shape()) == x.shape(), "x is ", x.shape(),
        " and the other operand ", source.shape(), ", which does not broadcast to it");
  const TensorBody &a = x.body(), &b = source.body();
  const bool same_view = a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
  return a.storage.get() == b.storage.get() && !same_view ? kernel::clone(source) : source;
}

// See Note [Versions].
void wrote(const char* op, const Operand& x) { x->body().storage->wrote(op, x.line()); }

Tensor fill(const char* op, const Operand& x, Number value) {
  const Calling here(op, x.line());
  check_writable(x);
  wrote(op, x);
  kernel::fill(x, value);
  return x;
}

template <class Change>
Tensor update(const char* op, Operand x, Operand other, const Change& change) {
  const Calling here(op, x.line());
  check_writable(x);
  adopt(x, other);
  const Tensor from = apart(x, other);
  wrote(op, x);
  change(x.tensor(), from);
  return x;
}

}  // namespace

Tensor copy_(Operand x, Operand source) {
  const Calling here("copy_", x.line());
  if (source.is_number()) return fill("copy_", x, source.number());
  check_writable(x);
  const Tensor from = apart(x, source);
  wrote("copy_", x);
  kernel::copy_into(x, from);
  return x;
}

Tensor fill_(Operand x, Number value) { return fill("fill_", x, value); }
Tensor zero_(Operand x) { return fill("zero_", x, 0); }

Tensor add_(Operand x, Operand other, double alpha) {
  return update("add_", x, other,
                [=](const Tensor& out, const Tensor& b) { kernel::add_into(out, b, alpha); });
}

Tensor sub_(Operand x, Operand other, double alpha) {
  return update("sub_", x, other,
                [=](const Tensor& out, const Tensor& b) { kernel::sub_into(out, b, alpha); });
}

Tensor mul_(Operand x, Operand other) { return update("mul_", x, other, kernel::mul_into); }

Tensor div_(Operand x, Operand other) {
  const Calling here("div_", x.line());
  check_floating(x);
  return update("div_", x, other, kernel::div_into);
}

}  // namespace heed
