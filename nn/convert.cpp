// Conversion of a module to another dtype in place.

#include "autograd/node.h"
#include "nn/module.h"
#include "tensor/kernels/elementwise.h"

namespace heed {

void Module::to(DType dtype) {
  check(is_floating(dtype), "to: a module computes in float32 or float64, not in ", dtype);
  for (const Member& member : members())
    if (is_floating(member.tensor->dtype())) member.tensor->to_(dtype);
}

void OwnedTensor::to_(DType dtype) const {
  if (!defined() || dtype == this->dtype()) return;
  check(is_floating(this->dtype()) && is_floating(dtype), "to: a ", this->dtype(),
        " member of a module cannot become ", dtype, "; only floating ones change, to float32 or float64");
  const Tensor converted = kernel::cast(tensor_, dtype);
  // Continues to count versions, so that tensors saved before throw when read.
  TensorImpl::of(converted).storage->version = TensorImpl::of(tensor_).storage->version;
  TensorImpl::of(converted).storage->wrote("to", {});
  for (const Tensor& x : {save(tensor_)(), tensor_}) {  // also the alias that gradient rules save
    TensorImpl& own = TensorImpl::of(x);
    own.storage = TensorImpl::of(converted).storage;
    own.strides = converted.strides();
    own.contiguous = true;
    own.offset = 0;
    own.dtype = dtype;
  }
  if (!requires_grad()) return;
  Node::of(tensor_)->dtype = dtype;
  if (const Tensor g = tensor_.grad(); g.defined()) tensor_.set_grad(kernel::cast(g, dtype));
}

}  // namespace heed
