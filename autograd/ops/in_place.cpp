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

// Counts a write to x, see Note [Versions], and returns what to read: a copy of the source if it overlaps x
// in memory other than element by element.
Tensor begin_write(const char* op, const Operand& x, const Tensor& source) {
  check(broadcast_shapes(x->shape(), source.shape()) == x->shape(), "x is ", x->shape(),
        " and the other operand ", source.shape(), ", which does not broadcast to it");
  const TensorImpl &a = TensorImpl::of(x), &b = TensorImpl::of(source);
  const bool same_view = a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
  const bool overlaps = a.storage.get() == b.storage.get() && !same_view;
  Tensor readable = overlaps ? kernel::clone(source) : source;
  a.storage->wrote(op, x.line());
  return readable;
}

Tensor fill(const char* op, const Operand& x, Scalar value) {
  const OpScope scope(op, x.line());
  check_writable(x);
  TensorImpl::of(x).storage->wrote(op, x.line());
  kernel::fill(x, value);
  return x;
}

// x = f(x, other) for each element.
template <class F, class Dtypes = kernel::WrappingNumbers>
Tensor update(const char* op, Operand& x, Operand& other, const F& f, Dtypes dtypes = {}) {
  const OpScope scope(op, x.line());
  if constexpr (std::is_same_v<Dtypes, kernel::Floating>) check_floating(x);
  check_writable(x);
  match_dtypes(x, other);
  kernel::update(x, begin_write(op, x, other), f, dtypes);
  return x;
}

// x = x + alpha other, or x - alpha other.
template <int sign>
Tensor add_scaled_(const char* op, Operand& x, Operand& other, Scalar alpha) {
  const OpScope scope(op, x.line());
  check_writable(x);
  return update(op, x, other, kernel::plus_multiple<sign>(alpha, x->dtype()));
}

}  // namespace

Tensor copy_(Operand x, Operand source) {
  const OpScope scope("copy_", x.line());
  check_writable(x);
  if (source.is_number()) return fill("copy_", x, source.number());
  kernel::copy_into(x, begin_write("copy_", x, source));
  return x;
}

Tensor fill_(Operand x, Scalar value) { return fill("fill_", x, value); }
Tensor zero_(Operand x) { return fill("zero_", x, 0); }
Tensor add_(Operand x, Operand other, Scalar alpha) { return add_scaled_<1>("add_", x, other, alpha); }
Tensor sub_(Operand x, Operand other, Scalar alpha) { return add_scaled_<-1>("sub_", x, other, alpha); }
Tensor mul_(Operand x, Operand other) { return update("mul_", x, other, std::multiplies<>()); }
Tensor div_(Operand x, Operand other) { return update("div_", x, other, std::divides<>(), kernel::floating); }

}  // namespace heed
