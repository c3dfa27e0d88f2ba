#include "autograd/ops/in_place.h"

#include "autograd/grad_mode.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"

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

// The source to read while x is written: a copy when the two share memory in any way but element by element.
Tensor unshared(const Tensor& x, const Tensor& source) {
  check(broadcast_shapes(x.shape(), source.shape()) == x.shape(), "x is ", x.shape(),
        " and the other operand ", source.shape(), ", which does not broadcast to it");
  const TensorImpl &a = TensorImpl::of(x), &b = TensorImpl::of(source);
  const bool same_view = a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
  return a.storage.get() == b.storage.get() && !same_view ? kernel::clone(source) : source;
}

// See Note [Versions].
void wrote(const char* op, const Operand& x) { TensorImpl::of(x).storage->wrote(op, x.line()); }

Tensor fill(const char* op, const Operand& x, Scalar value) {
  const OpScope scope(op, x.line());
  check_writable(x);
  wrote(op, x);
  kernel::fill(x, value);
  return x;
}

// x = f(x, other), element by element.
template <class F, class Dtypes = kernel::WrappingNumbers>
Tensor update(const char* op, Operand x, Operand other, const F& f, Dtypes dtypes = {}) {
  const OpScope scope(op, x.line());
  check_writable(x);
  adopt(x, other);
  const Tensor from = unshared(x, other);
  wrote(op, x);
  kernel::update(x, from, f, dtypes);
  return x;
}

}  // namespace

Tensor copy_(Operand x, Operand source) {
  const OpScope scope("copy_", x.line());
  if (source.is_number()) return fill("copy_", x, source.number());
  check_writable(x);
  const Tensor from = unshared(x, source);
  wrote("copy_", x);
  kernel::copy_into(x, from);
  return x;
}

Tensor fill_(Operand x, Scalar value) { return fill("fill_", x, value); }
Tensor zero_(Operand x) { return fill("zero_", x, 0); }

Tensor add_(Operand x, Operand other, Scalar alpha) {
  const OpScope scope("add_", x.line());
  check_writable(x);
  const kernel::Factor factor(alpha, x->dtype());
  return update("add_", x, other, [factor](auto a, auto b) { return a + factor.as<decltype(a)>() * b; });
}

Tensor sub_(Operand x, Operand other, Scalar alpha) {
  const OpScope scope("sub_", x.line());
  check_writable(x);
  const kernel::Factor factor(alpha, x->dtype());
  return update("sub_", x, other, [factor](auto a, auto b) { return a - factor.as<decltype(a)>() * b; });
}

Tensor mul_(Operand x, Operand other) { return update("mul_", x, other, kernel::times); }

Tensor div_(Operand x, Operand other) {
  const OpScope scope("div_", x.line());
  check_floating(x);
  const auto f = [](auto a, auto b) { return a / b; };
  return update("div_", x, other, f, kernel::floating);
}

}  // namespace heed
