#pragma once

#include "nn/any_callable.h"

/// A list of layers as one layer.
namespace heed {

/// Layers one after the other: Sequential{Linear(784, 128), ReLU(), Linear(128, 10)}.
///
/// A part is anything that is called with a tensor and returns one: a layer, a function object, a lambda.
/// Parts are named by their numbers: "0.weight", "2.weight". Copying copies the parts.
///
/// Write braces: they construct the parts from left to right. In parentheses the compiler chooses the order,
/// so the same seed would give other start values with another compiler.
class Sequential : public Layer<Sequential> {
 public:
  Sequential() = default;  ///< y = x
  /// The parts in the order of their calls.
  template <class First, class... Others>
    requires(!std::is_same_v<std::remove_cvref_t<First>, Sequential> || sizeof...(Others) > 0)
  explicit Sequential(First&& first, Others&&... others) {
    push_back(std::forward<First>(first));
    (push_back(std::forward<Others>(others)), ...);
  }
  Sequential(const Sequential&) = default;
  Sequential(Sequential&&) noexcept = default;
  /// Assigns the parts, in place where they have the same type.
  Sequential& operator=(Sequential other);

  /// Appends a part.
  template <class Callable>
  void push_back(Callable&& part) {
    static_assert(std::is_invocable_r_v<Tensor, std::decay_t<Callable>&, const Tensor&>,
                  "a part of Sequential is called with a tensor and returns one");
    parts_.emplace_back(std::forward<Callable>(part));
  }

  Tensor forward(const Tensor& x) const;
  void visit(Visitor& v) override;

  size_t size() const { return parts_.size(); }
  /// Part i: `model.get<Linear>(0).weight`. Errors: there is none, or it has another type.
  template <class Part>
  Part& get(size_t i) const& {
    check(i < size(), "Sequential: there is no part ", i, " among ", size());
    auto* part = parts_[i].template get<Part>();
    check(part != nullptr, "Sequential: part ", i, " is of another type");
    return *part;
  }
  template <class Part>
  Part& get(size_t i) && = delete;  // it would dangle

 private:
  std::vector<AnyCallable<const Tensor&>> parts_;
};

}  // namespace heed
