#pragma once

#include <functional>

#include "tensor/dtype.h"
#include "tensor/free_functions.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

/// Tensor.
namespace heed {

class Tensor;
class HookHandle;

class Node;

/// Base class of what autograd stores with a tensor. Its classes are in autograd/.
struct AutogradMeta {
  explicit AutogradMeta(Node* graph_node) : node(graph_node) {}
  virtual ~AutogradMeta() = default;
  virtual void release() noexcept { delete this; }

  RefCount references;
  Node* const node;                     ///< The tensor's node in the graph.
  const Tensor* graph_alias = nullptr;  ///< What gradient rules save in place of the tensor, or null.
  bool recomputable = false;            ///< The values can be computed again from the node.
  std::atomic<bool> saved = false;      ///< A gradient rule holds the tensor itself.
};

/// One item of an index x[{...}]: a position, a slice, everything, a new axis, an ellipsis, or a tensor of
/// int64 positions or bools.
struct Index;

/// The object that tensor handles share: a view of storage, and what autograd stores with it. For kernels and
/// the engine.
struct TensorImpl {
  /// Returns the object of a tensor. Throws if the tensor is undefined.
  static TensorImpl& of(const Tensor& x);
  /// Returns a second view of the storage of x, without a graph; `offset` counts elements from the first of
  /// x. Does not check that the elements exist.
  static Tensor view(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset = 0);
  /// The same of a contiguous x, in another shape.
  static Tensor view(const Tensor& x, const Shape& shape);
  /// Whether x is the only handle of its object, and the object the only user of its storage.
  static bool unique(const Tensor& x);
  void release() noexcept;  // not inline: each handle would contain the destructors

  static void* operator new(size_t bytes) { return allocate(bytes); }
  static void operator delete(void* body, size_t bytes) noexcept { heed::release(body, bytes); }

  TensorImpl(DType type, const Shape& sizes, const Strides& steps)
      : dtype(type), shape(sizes), strides(steps) {}

  RefCount references;  ///< Number of handles.
  DType dtype;
  bool contiguous = true;  ///< In row-major order without gaps.
  int64_t offset = 0;      ///< Of the first element, in elements.
  int64_t numel = 0;
  Shape shape;
  Strides strides;             ///< In elements; 0 repeats, negative is not used.
  Ref<Storage> storage;        ///< Null while the values wait to be recomputed.
  Ref<AutogradMeta> autograd;  ///< Null if no gradient is needed.
};

/// Numbers of one dtype arranged in a shape. A handle that is cheap to copy; copies share the values.
/// Operations are free functions (autograd/ops.h): sum(x, 0), transpose(x), x + y. Members describe the
/// tensor or control its gradient.
class Tensor : public detail::OperationsAreFreeFunctions<Tensor> {
 public:
  /// An undefined tensor. Accessing its shape, dtype or values throws.
  Tensor() = default;

  /// Returns a contiguous tensor whose values are not initialized.
  static Tensor empty(const Shape& shape, DType dtype = float32);
  /// Returns the same values without a graph: gradients stop here.
  Tensor detach() const { return TensorImpl::view(*this, body().shape, body().strides); }
  bool same_as(const Tensor& other) const { return body_.get() == other.body_.get(); }

  bool defined() const { return bool(body_); }
  const Shape& shape() const& { return body().shape; }
  Shape shape() && { return body().shape; }
  const Strides& strides() const& { return body().strides; }  ///< In elements.
  Strides strides() && { return body().strides; }
  DType dtype() const { return body().dtype; }
  int64_t dim() const { return body().shape.dim(); }  ///< Number of dimensions.
  int64_t numel() const { return body().numel; }      ///< Number of elements.
  /// The size along one dimension; -1 is the last.
  int64_t size(int64_t dim, SourceLocation line = SourceLocation::current()) const {
    const OpScope scope("size", line);
    return shape()[check_dim(this->dim(), dim)];
  }
  bool is_contiguous() const { return body().contiguous; }  ///< In row-major order without gaps.

  /// Pointer to the first element; the others are strides() apart. Errors: T is not the type of the dtype.
  template <class T>
  const T* data(SourceLocation line = SourceLocation::current()) const {
    if (constexpr DType wanted = dtype_of<T>; dtype() != wanted) [[unlikely]]
      wrong_dtype(wanted, line);
    return reinterpret_cast<const T*>(body().storage->data) + body().offset;
  }
  /// The same for writing. Increments the version: tensors saved before this call throw when read.
  template <class T>
  T* mutable_data(SourceLocation line = SourceLocation::current()) const {
    body().storage->wrote("mutable_data", line);
    return const_cast<T*>(data<T>(line));
  }
  /// The value of a tensor with one element. Errors: another number of elements.
  template <class T = double>
  T item(SourceLocation line = SourceLocation::current()) const {
    const OpScope scope("item", line);
    check(numel() == 1, "x is ", shape(), " with ", numel(), " elements, not one; index it, or sum(x)");
    T value{};
    for_each([&](auto element) { value = static_cast<T>(element); });
    return value;
  }
  /// All values in row-major order, converted to T.
  template <class T = double>
  std::vector<T> to_vector() const {
    std::vector<T> values(static_cast<size_t>(numel()));
    auto value = values.begin();
    for_each([&](auto element) { *value++ = static_cast<T>(element); });
    return values;
  }
  /// Calls f with every element in row-major order. For printing and tests, not for speed.
  void for_each(auto&& f) const {
    visit_dtype(dtype(), [&]<class T>(Type<T>) {
      const T* first = data<T>();
      for_each_offset(shape(), strides(), [&](int64_t offset) { f(first[offset]); });
    });
  }

  /// x[2], x[{0, Slice(1, 4)}], x[{whole, mask}]: see Index. Differentiable.
  Tensor operator[](const Index& item) const;
  Tensor operator[](std::initializer_list<Index> items) const;

  // The rest needs the engine and is defined in autograd/tensor.cpp.

  bool requires_grad() const { return body_ && body_->autograd; }
  /// Makes a leaf that accumulates a gradient, or stops that. Errors: a tensor that is not floating, or that
  /// an operation computed.
  const Tensor& requires_grad_(bool requires_grad = true,
                               SourceLocation line = SourceLocation::current()) const&;
  Tensor requires_grad_(bool requires_grad = true, SourceLocation line = SourceLocation::current()) && {
    return static_cast<const Tensor&>(*this).requires_grad_(requires_grad, line);
  }
  /// Whether no operation computed this tensor: a parameter, an input.
  bool is_leaf() const;
  /// The gradient accumulated by backward(), undefined before. Leaves have one, others after retain_grad().
  /// Freed with the last handle of this tensor.
  Tensor grad() const;
  /// Replaces the gradient; an undefined tensor drops it.
  void set_grad(const Tensor& grad) const;
  /// Keeps the gradient of a tensor that is no leaf.
  void retain_grad() const;
  /// Adds d(this)/d(leaf) to the gradient of every leaf behind this scalar. Errors: it has several elements,
  /// or needs no gradient.
  void backward(SourceLocation line = SourceLocation::current()) const;
  /// The same for a tensor of any shape, given its incoming gradient.
  void backward(const Tensor& gradient, bool retain_graph = false, bool create_graph = false,
                SourceLocation line = SourceLocation::current()) const;
  /// Calls `hook` with the gradient of this tensor when it is complete. A hook returns a replacement, or an
  /// undefined tensor to keep the gradient. A hook of a leaf that captures the leaf itself leaks it: capture
  /// leaf.detach().
  HookHandle register_hook(std::function<Tensor(const Tensor&)> hook) const;

 private:
  friend struct TensorImpl;
  explicit Tensor(TensorImpl* body) : body_(body) {}
  TensorImpl& body() const {
    if (!body_) [[unlikely]]
      throw_undefined();
    return *body_;
  }
  [[noreturn]] static void throw_undefined();
  [[noreturn]] void wrong_dtype(DType wanted, SourceLocation line) const;

  Ref<TensorImpl> body_;
};

/// Values, dtype and shape as text; large tensors are abbreviated.
std::string to_string(const Tensor& x);

inline TensorImpl& TensorImpl::of(const Tensor& x) { return x.body(); }
inline Tensor TensorImpl::view(const Tensor& x, const Shape& shape) {
  return view(x, shape, contiguous_strides(shape));
}
inline bool TensorImpl::unique(const Tensor& x) { return x.body_.unique() && x.body_->storage.unique(); }

}  // namespace heed
