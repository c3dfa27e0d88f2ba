#include "nn/parameter.h"

#include "autograd/node.h"
#include "tensor/kernels/elementwise.h"

namespace heed {

OwnedTensor::OwnedTensor(Tensor values, bool learns) : learns_(learns) {
  if (!values.defined()) return;
  const bool ours = TensorImpl::unique(values) && values.is_contiguous() && !values.requires_grad();
  tensor_ = ours ? std::move(values) : kernel::clone(values);
  if (learns) requires_grad_();
}

OwnedTensor::OwnedTensor(const OwnedTensor& other) : learns_(other.learns_) {
  if (!other.defined()) return;
  tensor_ = kernel::clone(other);
  if (other.requires_grad()) requires_grad_();  // a copy of a frozen parameter is frozen
}

OwnedTensor& OwnedTensor::operator=(const Tensor& values) {
  if (!defined() || !values.defined()) {
    tensor_ = OwnedTensor(values, learns_).tensor_;
    return *this;
  }
  if (same_as(values)) return *this;
  check(values.shape() == shape(), "assignment to a parameter: it has shape ", shape(), " and the values ",
        values.shape(), "; values are written in place, so the shapes must be equal");
  const bool overlap = TensorImpl::of(values).storage.get() == TensorImpl::of(tensor_).storage.get();
  kernel::copy_into(tensor_, overlap ? kernel::clone(values) : values);
  TensorImpl::of(tensor_).storage->wrote("assignment to a parameter", {});
  return *this;
}

// NOLINTNEXTLINE(*-noexcept-move-constructor,bugprone-exception-escape)
OwnedTensor& OwnedTensor::operator=(OwnedTensor&& other) {
  if (defined() && other.defined() && other.shape() == shape()) return *this = other.tensor_;
  tensor_ = std::move(other.tensor_);
  return *this;
}

void OwnedTensor::to_(DType dtype) const {
  if (!defined() || dtype == this->dtype()) return;
  check(is_floating(this->dtype()) && is_floating(dtype), "to: a ", this->dtype(),
        " member of a module cannot become ", dtype, "; only floating ones change, to float32 or float64");
  const Tensor converted = kernel::cast(tensor_, dtype);
  // Values saved for gradients before must refuse, so the new memory goes on counting versions.
  TensorImpl::of(converted).storage->version = TensorImpl::of(tensor_).storage->version;
  TensorImpl::of(converted).storage->wrote("to", {});
  for (const Tensor& x : {save(tensor_)(), tensor_}) {  // and what rules save of it
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

HookHandle OwnedTensor::register_hook(std::function<Tensor(const Tensor&)> hook) const {
  return tensor_.register_hook(std::move(hook));
}

}  // namespace heed
