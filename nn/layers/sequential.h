#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nn/module.h"

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
  Sequential(const Sequential& other) : Layer(other) {
    for (const auto& part : other.parts_) parts_.push_back(part->copy());
  }
  Sequential(Sequential&&) noexcept = default;
  /// Like the assignment of its parts: in place, where they are of the same type.
  Sequential& operator=(const Sequential& other) {
    if (this == &other) return *this;
    Layer::operator=(other);
    parts_.resize(other.parts_.size());
    for (size_t i = 0; i < parts_.size(); ++i)
      if (!parts_[i] || !parts_[i]->assign(*other.parts_[i])) parts_[i] = other.parts_[i]->copy();
    return *this;
  }

  Sequential& operator=(Sequential&& other) {
    if (!parts_.empty()) return *this = std::as_const(other);
    Layer::operator=(other);
    parts_ = std::move(other.parts_);
    return *this;
  }

  template <class Callable>
  void push_back(Callable&& part) {
    using Held = std::decay_t<Callable>;
    static_assert(std::is_invocable_r_v<Tensor, Held&, const Tensor&>,
                  "a part of Sequential is called with a tensor and returns one");
    parts_.push_back(std::make_unique<Holder<Held>>(std::forward<Callable>(part)));
  }

  Tensor forward(const Tensor& x) const {
    Tensor y = x;
    for (const auto& part : parts_) y = part->call(y);
    return y;
  }

  void visit(Visitor& v) override {
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i]->visit(std::to_string(i), v);
  }

  size_t size() const { return parts_.size(); }
  /// Part i, which must be of this type: model.get<Linear>(0).weight
  template <class Part>
  Part& get(size_t i) const {
    check(i < size(), "Sequential: there is no part ", i, " among ", size());
    auto* holder = dynamic_cast<Holder<Part>*>(parts_[i].get());
    check(holder != nullptr, "Sequential: part ", i, " is of another type");
    return holder->part;
  }

 private:
  // Forgets the type of a part.
  struct AnyPart {
    virtual ~AnyPart() = default;
    virtual Tensor call(const Tensor& x) = 0;
    virtual void visit(const std::string& name, Visitor& v) = 0;
    virtual std::unique_ptr<AnyPart> copy() const = 0;
    virtual bool assign(const AnyPart& other) = 0;
  };
  template <class Held>
  struct Holder : AnyPart {
    template <class Callable>
    explicit Holder(Callable&& callable) : part(std::forward<Callable>(callable)) {}
    Tensor call(const Tensor& x) override { return part(x); }
    void visit(const std::string& name, Visitor& v) override {
      if constexpr (Visitable<Held>) v(name, part);
    }
    std::unique_ptr<AnyPart> copy() const override { return std::make_unique<Holder>(part); }
    bool assign(const AnyPart& other) override {
      const auto* same = dynamic_cast<const Holder*>(&other);
      if constexpr (std::is_copy_assignable_v<Held>) {
        if (same) part = same->part;
        return same != nullptr;
      } else {
        return false;  // lambdas with captures
      }
    }
    Held part;
  };

  std::vector<std::unique_ptr<AnyPart>> parts_;
};

}  // namespace heed
