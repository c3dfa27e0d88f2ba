#include "tensor/tensor.h"

#include <new>

namespace heed {

void TensorBody::release() noexcept {
  this->~TensorBody();
  heed::release(this, sizeof(TensorBody));
}

Tensor Tensor::empty(const Shape& shape, DType dtype) {
  const int64_t count = heed::numel(shape);
  int64_t bytes = 0;
  check(!__builtin_mul_overflow(count, size_of(dtype), &bytes) && bytes <= (int64_t{1} << 47),
        "a tensor of shape ", shape, " and dtype ", dtype, " does not fit into memory");
  Ref<Storage> storage = Storage::make(bytes);
  Tensor result(new (allocate(sizeof(TensorBody))) TensorBody);
  TensorBody& body = *result.body_;
  body.dtype = dtype;
  body.numel = count;
  body.shape = shape;
  body.strides = contiguous_strides(shape);
  body.storage = std::move(storage);
  return result;
}

Tensor Tensor::view_as(const Shape& shape, const Strides& strides, int64_t offset) const {
  const TensorBody& from = body();
  Tensor result(new (allocate(sizeof(TensorBody))) TensorBody);
  TensorBody& view = *result.body_;
  view.dtype = from.dtype;
  view.offset = offset;
  view.numel = heed::numel(shape);
  view.shape = shape;
  view.strides = strides;
  view.storage = from.storage;
  return result;
}

bool Tensor::is_contiguous() const {
  const TensorBody& b = body();
  int64_t expected = 1;
  for (int64_t d = b.shape.rank() - 1; d >= 0; --d) {
    if (b.shape[d] != 1 && b.strides[d] != expected) return b.numel == 0;
    expected *= b.shape[d];
  }
  return true;
}

void Tensor::undefined() {
  fail("this tensor is undefined: it was default-constructed or moved from, and has no values");
}

void Tensor::check_type(DType wanted) const {
  check(dtype() == wanted, "the elements are ", dtype(), ", not ", wanted, "; convert with to(x, ", wanted,
        ")");
}

}  // namespace heed
