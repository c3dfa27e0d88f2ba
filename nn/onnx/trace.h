#pragma once

#include <map>

#include "autograd/observer.h"

/// The operations of one forward pass.
namespace heed::onnx {

/// A tensor with what tells it from others: two tensors with equal keys are the same values in memory.
struct Traced {
  Traced() = default;
  explicit Traced(const Tensor& x);

  Tensor tensor;
  std::string key = {};  ///< "" if undefined.
  bool operator==(const Traced& other) const { return key == other.key; }
};

/// What an operation's attribute holds; a bool is 0 or 1.
using TracedValue = std::variant<int64_t, double, std::string, std::vector<int64_t>, Traced>;

/// One operation.
struct Step {
  std::string name, caller;  ///< Of the operation, and of the one that the user called.
  SourceLocation line;
  std::vector<Traced> inputs;
  std::vector<std::pair<std::string, TracedValue>> attributes;
  Traced value;

  /// "mul in dropout at file:line"
  std::string described() const;
  /// The attribute with this name, or null.
  const TracedValue* attribute(std::string_view attribute_name) const;
  /// The attribute with this name if it is a T, else null.
  template <class T>
  const T* find(std::string_view attribute_name) const {
    return std::get_if<T>(attribute(attribute_name));
  }
  /// The attribute with this name, which must exist.
  template <class T = int64_t>
  const T& get(std::string_view attribute_name) const {
    const T* held = find<T>(attribute_name);
    if (!held) fail("save_onnx: ", described(), " has no ", attribute_name);
    return *held;
  }
};

/// Records all operations of its thread during its lifetime. Attention that the operator of ONNX does not
/// cover, or all of it below opset 23, is recorded as the operations of its reference.
class Trace : private Observer {
 public:
  explicit Trace(int64_t opset) : opset_(opset) {}
  std::vector<Step> steps;

 private:
  void on_result(const Operation& op, const Tensor& value) override;
  int64_t opset_;
};

}  // namespace heed::onnx
