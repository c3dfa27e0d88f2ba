#pragma once

#include "nn/module.h"

/// A part of a layer whose type is chosen at run time.
namespace heed {

/// Anything that is called with Args and returns a tensor. A copy has its own values; assigning a part of the
/// same type writes the values in place. A moved-from one is empty: it has no members, and calling it throws.
template <class... Args>
class AnyCallable {
 public:
  template <class Part>
    requires(!std::is_same_v<Part, AnyCallable> && std::is_invocable_r_v<Tensor, Part&, Args...>)
  AnyCallable(Part part) : held_(std::make_unique<Holder<Part>>(std::move(part))) {}
  AnyCallable(const AnyCallable& other) : held_(other.held_ ? other.held_->clone() : nullptr) {}
  AnyCallable(AnyCallable&&) noexcept = default;
  AnyCallable& operator=(const AnyCallable& other) {
    if (!held_ || !other.held_ || !held_->assign(*other.held_)) *this = AnyCallable(other);
    return *this;
  }
  AnyCallable& operator=(AnyCallable&&) noexcept = default;

  Tensor operator()(Args... args) const {
    check(held_ != nullptr, "AnyCallable: there is nothing to call; what it held was moved to another place");
    return held_->call(args...);
  }
  void visit(Visitor& v) {
    if (held_) held_->visit(v);
  }
  /// The part if it has this type, else null.
  template <class Part>
  Part* get() const& {
    auto* holder = dynamic_cast<Holder<Part>*>(held_.get());
    return holder ? &holder->part : nullptr;
  }
  template <class Part>
  Part* get() && = delete;  // it would dangle

 private:
  struct Held {
    virtual ~Held() = default;
    virtual std::unique_ptr<Held> clone() const = 0;
    virtual bool assign(const Held& other) = 0;
    virtual Tensor call(Args... args) = 0;
    virtual void visit(Visitor& v) = 0;
  };
  template <class Part>
  struct Holder final : Held {
    explicit Holder(Part p) : part(std::move(p)) {}
    std::unique_ptr<Held> clone() const override { return std::make_unique<Holder>(part); }
    bool assign(const Held& other) override {
      if constexpr (std::is_copy_assignable_v<Part>)  // lambdas with captures are not
        if (const auto* same = dynamic_cast<const Holder*>(&other)) return part = same->part, true;
      return false;
    }
    Tensor call(Args... args) override { return part(args...); }
    void visit(Visitor& v) override {
      if constexpr (Visitable<Part>) v("", part);
    }
    Part part;
  };
  std::unique_ptr<Held> held_;
};

}  // namespace heed
