#pragma once

#include "nn/any_part.h"

namespace heed {

/// One after the other: Sequential(Linear(784, 128), ReLU(), Linear(128, 10)).
///
/// A part is anything that can be called with a tensor and returns one: a layer, a function object, a lambda.
/// Parts are named by their number, every part counting: "0.weight", "2.weight". Copying copies the parts.
class Sequential : public Layer<Sequential> {
 public:
  Sequential() = default;
  template <class First, class... Others>
  requires(!std::is_same_v<std::remove_cvref_t<First>, Sequential> ||
           sizeof...(Others) > 0) explicit Sequential(First&& first, Others&&... others) {
    push_back(std::forward<First>(first));
    (push_back(std::forward<Others>(others)), ...);
  }
  Sequential(const Sequential&) = default;
  Sequential(Sequential&&) noexcept = default;
  /// Like the assignment of its parts: in place, where they are of the same type.
  Sequential& operator=(const Sequential& other);
  // May throw: it writes values.
  // NOLINTNEXTLINE(*-noexcept-move-constructor)
  Sequential& operator=(Sequential&& other);

  template <class Callable>
  void push_back(Callable&& part) {
    static_assert(std::is_invocable_r_v<Tensor, std::decay_t<Callable>&, const Tensor&>,
                  "a part of Sequential is called with a tensor and returns one");
    parts_.emplace_back(std::forward<Callable>(part));
  }

  Tensor forward(const Tensor& x) const;
  void visit(Visitor& v) override { v("", parts_); }

  size_t size() const { return parts_.size(); }
  /// Part i, which must be of this type: model.get<Linear>(0).weight
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
  std::vector<AnyPart<const Tensor&>> parts_;
};

}  // namespace heed
