#include "autograd/operand.h"

#include <cmath>

#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

void become_like(const char* op, Operand& number, const Tensor& other) {
  const double value = number.number();
  const DType dtype = other.dtype();
  const bool whole = value == std::trunc(value) && value >= -0x1p63 && value < 0x1p63;
  check(is_floating(dtype) || (dtype == int64 && whole) || (dtype == boolean && (value == 0 || value == 1)),
        op, ": the number ", value, " does not fit a ", dtype,
        " tensor; convert the tensor with to(x, float32)");
  number.become(kernel::full({}, value, dtype));
}

}  // namespace

void adopt(const char* op, Operand& a, Operand& b) {
  if (a.is_number() && b.is_number()) a.become(kernel::full({}, a.number(), float32));
  if (a.is_number())
    become_like(op, a, b);
  else if (b.is_number())
    become_like(op, b, a);
  else
    check(a->dtype() == b->dtype(), op, ": a is ", a->dtype(), " ", a->shape(), ", b is ", b->dtype(), " ",
          b->shape(), "; operands must have one dtype, convert one with to(x, ",
          is_floating(b->dtype()) ? b->dtype() : a->dtype(), ")");
}

void check_floating(const char* op, const Operand& x) {
  check(is_floating(x->dtype()), op, ": x is ", x->dtype(), " ", x->shape(),
        "; this operation is for float32 and float64, convert with to(x, float32)");
}

void check_indices(const char* op, const Operand& x) {
  check(x->dtype() == int64, op, ": positions must be int64, and they are ", x->dtype(), " ", x->shape(),
        "; convert with to(x, int64)");
}

}  // namespace heed
