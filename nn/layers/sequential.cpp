#include "nn/layers/sequential.h"

namespace heed {

Sequential& Sequential::operator=(const Sequential& other) {
  const auto parts = other.parts_;  // a copy, since `other` may be one of the parts to assign to
  Layer::operator=(other);
  parts_.reserve(parts.size());  // then the vector assigns to the parts that it has
  parts_ = parts;
  return *this;
}

// NOLINTNEXTLINE(*-noexcept-move-constructor)
Sequential& Sequential::operator=(Sequential&& other) {
  if (!parts_.empty()) return *this = std::as_const(other);
  Layer::operator=(other);
  parts_ = std::move(other.parts_);
  return *this;
}

Tensor Sequential::forward(const Tensor& x) const {
  Tensor y = x;
  for (const auto& part : parts_) y = part(y);
  return y;
}

}  // namespace heed
