#pragma once

#include "autograd/hooks.h"
#include "tensor/tensor.h"

/// The tensors of a module: Parameter and Buffer.
namespace heed {

/// A tensor that owns its values:
///
///   copying      makes a new leaf with a copy of the values
///   moving       keeps the identity: an optimizer that holds the tensor still has it
///   assigning    writes the values in place; the shapes must be equal, except that a moved tensor of another
///                shape replaces the old one
///   undefined    means absent; assigning to an absent one copies the values
///
/// Converts to `const Tensor&`. `auto w = layer.weight` is a copy: write `auto&`, or `Tensor` for a second
/// handle to the same values. `Tensor& w = layer.weight` does not compile, because assigning to w would take
/// the tensor out of the layer.
class OwnedTensor : public detail::OperationsAreFreeFunctions<OwnedTensor, Tensor> {
 public:
  OwnedTensor& operator=(const Tensor& values);
  OwnedTensor& operator=(const OwnedTensor& other) { return *this = other.tensor_; }
  /// May throw, because it writes values.
  // NOLINTNEXTLINE(*-noexcept-move-constructor,bugprone-exception-escape)
  OwnedTensor& operator=(OwnedTensor&& other);
  operator const Tensor&() const& { return tensor_; }
  operator Tensor() && { return std::move(tensor_); }
  bool learned() const { return learned_; }  ///< True for a Parameter, false for a Buffer.
  /// Converts the tensor and its gradient in place, for all handles.
  void to_(DType dtype) const;

  ///@{
  /// The same as in Tensor.
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
  HookHandle register_hook(auto hook) const { return tensor_.register_hook(std::move(hook)); }
  bool same_as(const Tensor& other) const { return tensor_.same_as(other); }
  ///@}

 protected:
  OwnedTensor(Tensor values, bool learned);
  OwnedTensor(const OwnedTensor& other);
  OwnedTensor(OwnedTensor&& other) noexcept = default;
  ~OwnedTensor() = default;

 private:
  Tensor tensor_;
  bool learned_;
};

/// A member that `visit` names: learned or only kept.
template <bool is_learned>
struct Owned : OwnedTensor {
  /// Takes over values that nothing else holds, and copies others.
  Owned(Tensor values = {}) : OwnedTensor(std::move(values), is_learned) {}
  using OwnedTensor::operator=;
};
/// A floating leaf that a module learns.
using Parameter = Owned<true>;
/// A tensor that a module keeps but does not learn, such as a running mean. Saved with the parameters.
using Buffer = Owned<false>;

}  // namespace heed
