#pragma once

#include "tensor/tensor.h"

/// The members of modules: Parameter and Buffer.
namespace heed {

/// A tensor that owns its values, as members of modules do:
///
///   copying       makes a new leaf with values of its own
///   moving        keeps the identity: whoever holds the tensor, an optimiser say, still holds it
///   assigning     writes the values in place and keeps identity and gradient; shapes must be equal, except
///                 that a moved tensor of another shape takes the place of the old one
///   undefined     is allowed and means absent; assigning to an absent one gives it values of its own
///
/// It is read like a tensor and goes wherever a tensor is read. `auto w = layer.weight` is a copy; write
/// `auto&`, or `Tensor` for a second name of the same values. `Tensor& w = layer.weight` does not compile:
/// assigning to a Tensor gives the name to other values, and the layer would lose its parameter.
class OwnedTensor {
 public:
  OwnedTensor& operator=(const Tensor& values);  ///< Writes the values in place.
  /// Writes the values in place.
  OwnedTensor& operator=(const OwnedTensor& other) { return *this = other.tensor_; }
  /// Writes the values in place, and may throw; a tensor of another shape takes the place of the old one.
  // NOLINTNEXTLINE(*-noexcept-move-constructor,bugprone-exception-escape)
  OwnedTensor& operator=(OwnedTensor&& other);
  operator const Tensor&() const& { return tensor_; }  ///< The tensor that is owned.
  operator Tensor() && { return std::move(tensor_); }  ///< The tensor, given away.
  /// Whether it is a Parameter, not a Buffer.
  bool learned() const { return learns_; }
  /// Changes the dtype of this very tensor and of its gradient; every holder sees it.
  void to_(DType dtype) const;

  ///@{
  /// As the member of Tensor.
  bool defined() const { return tensor_.defined(); }
  const Shape& shape() const& { return tensor_.shape(); }
  Shape shape() && { return tensor_.shape(); }
  DType dtype() const { return tensor_.dtype(); }
  int64_t dim() const { return tensor_.dim(); }
  int64_t size(int64_t dim, SourceLocation line = SourceLocation::current()) const {
    return tensor_.size(dim, line);
  }
  int64_t numel() const { return tensor_.numel(); }
  template <class T>
  const T* data(SourceLocation line = SourceLocation::current()) const {
    return tensor_.data<T>(line);
  }
  template <class T>
  T* mutable_data(SourceLocation line = SourceLocation::current()) const {
    return tensor_.mutable_data<T>(line);
  }
  template <class T = double>
  T item(SourceLocation line = SourceLocation::current()) const {
    return tensor_.item<T>(line);
  }
  template <class T = double>
  std::vector<T> to_vector() const {
    return tensor_.to_vector<T>();
  }
  Tensor operator[](const Index& item) const { return tensor_[item]; }
  Tensor operator[](std::initializer_list<Index> items) const { return tensor_[items]; }
  Tensor detach() const { return tensor_.detach(); }
  bool requires_grad() const { return tensor_.requires_grad(); }
  const Tensor& requires_grad_(bool requires_grad = true,
                               SourceLocation line = SourceLocation::current()) const& {
    return tensor_.requires_grad_(requires_grad, line);
  }
  bool is_leaf() const { return tensor_.is_leaf(); }
  Tensor grad() const { return tensor_.grad(); }
  void set_grad(const Tensor& grad) const { tensor_.set_grad(grad); }
  HookHandle register_hook(std::function<Tensor(const Tensor&)> hook) const;
  bool same_as(const Tensor& other) const { return tensor_.same_as(other); }
  ///@}

 protected:
  OwnedTensor(Tensor values, bool learns);  ///< See Owned.
  OwnedTensor(const OwnedTensor& other);    ///< Values of its own.
  OwnedTensor(OwnedTensor&& other) noexcept = default;
  ~OwnedTensor() = default;

 private:
  Tensor tensor_;
  bool learns_;  // values that arrive later will require a gradient
};

/// Parameter and Buffer.
template <bool learns>
class Owned : public OwnedTensor {
 public:
  /// Takes the values over when nobody else holds them, and copies them otherwise.
  Owned(Tensor values = {}) : OwnedTensor(std::move(values), learns) {}
  using OwnedTensor::operator=;
};
/// A member that a module learns: a floating leaf that gathers a gradient.
using Parameter = Owned<true>;
/// A member that a module keeps but does not learn, such as a running mean. Saved with the parameters.
using Buffer = Owned<false>;

}  // namespace heed
