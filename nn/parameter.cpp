#include "nn/parameter.h"

#include "autograd/node.h"
#include "tensor/kernels/elementwise.h"

namespace heed {

OwnedTensor::OwnedTensor(Tensor values, bool learned) : learned_(learned) {
  if (!values.defined()) return;
  const bool unshared = TensorImpl::unique(values) && values.is_contiguous() && !values.requires_grad();
  tensor_ = unshared ? std::move(values) : kernel::clone(values);
  if (learned) requires_grad_();
}

OwnedTensor::OwnedTensor(const OwnedTensor& other) : OwnedTensor(other.tensor_, other.learned_) {
  if (defined()) requires_grad_(other.requires_grad());  // a copy of a frozen parameter is frozen
}

OwnedTensor& OwnedTensor::operator=(const Tensor& values) {
  if (same_as(values)) return *this;
  if (!defined() || !values.defined()) return *this = OwnedTensor(values, learned_);
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

}  // namespace heed
