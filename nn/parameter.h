#pragma once

#include <utility>

#include "tensor/tensor.h"

namespace heed {

/// A tensor that owns its values, as members of modules do:
///
///   copying       makes a new leaf with values of its own
///   moving        keeps the identity: whoever holds the tensor, an optimiser say, still holds it
///   assigning     writes the values in place and keeps identity and gradient; shapes must be equal, except
///                 that a moved tensor of another shape takes the place of the old one
///   undefined     is allowed and means absent; assigning to an absent one gives it values of its own
///
/// `auto w = layer.weight` is therefore a copy; write `auto&`, or `Tensor` for a second name of the same
/// values.
class OwnedTensor : public Tensor {
 public:
  OwnedTensor& operator=(const Tensor& values);
  OwnedTensor& operator=(const OwnedTensor& other) { return *this = static_cast<const Tensor&>(other); }
  // May throw: it writes values.
  // NOLINTNEXTLINE(*-noexcept-move-constructor,bugprone-exception-escape)
  OwnedTensor& operator=(OwnedTensor&& other);
  /// Changes the dtype of this very tensor and of its gradient; every holder sees it.
  void to_(DType dtype) const;

 protected:
  explicit OwnedTensor(bool learns) : learns_(learns) {}
  OwnedTensor(Tensor values, bool learns);
  OwnedTensor(const OwnedTensor& other);
  OwnedTensor(OwnedTensor&& other) noexcept = default;
  ~OwnedTensor() = default;

 private:
  bool learns_;  // values that arrive later will require a gradient
};

/// What a module learns: a floating leaf that gathers a gradient.
class Parameter : public OwnedTensor {
 public:
  Parameter() : OwnedTensor(true) {}
  /// Takes the values over when nobody else holds them, and copies them otherwise.
  Parameter(Tensor values) : OwnedTensor(std::move(values), true) {}
  using OwnedTensor::operator=;
};

/// What a module keeps but does not learn, such as a running mean. Saved with the parameters.
class Buffer : public OwnedTensor {
 public:
  Buffer() : OwnedTensor(false) {}
  Buffer(Tensor values) : OwnedTensor(std::move(values), false) {}
  using OwnedTensor::operator=;
};

}  // namespace heed
