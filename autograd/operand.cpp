#include "autograd/operand.h"

#include "tensor/kernels/elementwise.h"

namespace heed {

void match_dtypes(Operand& a, Operand& b) {
  if (a.is_number()) a.assign(kernel::full({}, a.number(), b.is_number() ? float32 : b->dtype()));
  if (b.is_number()) b.assign(kernel::full({}, b.number(), a->dtype()));
  check(a->dtype() == b->dtype(), "a is ", a->dtype(), " ", a->shape(), ", b is ", b->dtype(), " ",
        b->shape(), "; operands must have one dtype, convert one with to(x, ",
        is_floating(b->dtype()) ? b->dtype() : a->dtype(), ")");
}

void check_floating(const Operand& x) {
  check(is_floating(x->dtype()), "x is ", x->dtype(), " ", x->shape(),
        "; this operation is for float32 and float64, convert with to(x, float32)");
}

void check_indices(const Operand& x) {
  check(x->dtype() == int64, "positions must be int64, and they are ", x->dtype(), " ", x->shape(),
        "; convert with to(x, int64)");
}

void check_parameter(const char* name, const Operand& p, const Shape& shape, const Operand& x) {
  if (!p.defined()) return;
  check(p->shape() == shape, name, " is ", p->shape(), ", x is ", x->shape(), "; ", name, " must be ", shape);
  check(p->dtype() == x->dtype(), "x is ", x->dtype(), ", ", name, " is ", p->dtype(),
        "; they must have one dtype, convert x with to(x, ", p->dtype(), ")");
}

}  // namespace heed
