#pragma once

#include "nn/any_callable.h"

/// Layers one after the other.
namespace heed {

/// One after the other: Sequential(Linear(784, 128), ReLU(), Linear(128, 10)).
///
/// A part is anything that can be called with a tensor and returns one: a layer, a function object, a lambda.
/// Parts are named by their number, every part counting: "0.weight", "2.weight". Copying copies the parts.
class Sequential : public Layer<Sequential> {
 public:
  Sequential() = default;  ///< Of no parts: y = x.
  /// The parts in the order they are called.
  template <class First, class... Others>
    requires(!std::is_same_v<std::remove_cvref_t<First>, Sequential> || sizeof...(Others) > 0)
  explicit Sequential(First&& first, Others&&... others) {
    push_back(std::forward<First>(first));
    (push_back(std::forward<Others>(others)), ...);
  }
  Sequential(const Sequential&) = default;
  Sequential(Sequential&&) noexcept = default;
  /// Like the assignment of its parts: in place, where they are of the same type.
  Sequential& operator=(const Sequential& other);
  /// The same: it writes values, and may throw.
  // NOLINTNEXTLINE(*-noexcept-move-constructor)
  Sequential& operator=(Sequential&& other);

  /// One part more, at the end.
  template <class Callable>
  void push_back(Callable&& part) {
    static_assert(std::is_invocable_r_v<Tensor, std::decay_t<Callable>&, const Tensor&>,
                  "a part of Sequential is called with a tensor and returns one");
    parts_.emplace_back(std::forward<Callable>(part));
  }

  /// Each part of the result of the one before.
  Tensor forward(const Tensor& x) const;
  void visit(Visitor& v) override { v("", parts_); }

  /// The number of parts.
  size_t size() const { return parts_.size(); }
  /// Part i, an Error unless it is there and of this type: `model.get<Linear>(0).weight`.
  template <class Part>
  Part& get(size_t i) const& {
    check(i < size(), "Sequential: there is no part ", i, " among ", size());
    auto* part = parts_[i].template get<Part>();
    check(part != nullptr, "Sequential: part ", i, " is of another type");
    return *part;
  }
  template <class Part>
  Part& get(size_t i) && = delete;  // the part would die with the temporary

 private:
  std::vector<AnyCallable<const Tensor&>> parts_;
};

}  // namespace heed
