#include "nn/layers/sequential.h"

namespace heed {

Sequential& Sequential::operator=(const Sequential& other) {
  if (this == &other) return *this;
  Layer::operator=(other);
  while (size() > other.size()) parts_.pop_back();
  for (size_t i = 0; i < size(); ++i) parts_[i] = other.parts_[i];
  while (size() < other.size()) parts_.push_back(other.parts_[size()]);
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
