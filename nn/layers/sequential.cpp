#include "nn/layers/sequential.h"

namespace heed {

Sequential& Sequential::operator=(Sequential other) {
  Layer::operator=(other);
  if (parts_.empty()) {
    parts_ = std::move(other.parts_);
  } else {
    parts_.reserve(other.parts_.size());  // so that the vector assigns to the parts that it has
    parts_ = other.parts_;
  }
  return *this;
}

Tensor Sequential::forward(const Tensor& x) const {
  Tensor y = x;
  for (const auto& part : parts_) y = part(y);
  return y;
}

void Sequential::visit(Visitor& v) { v("", parts_); }

}  // namespace heed
