#pragma once

#include "nn/module.h"

/// A part of a layer whose type is chosen at run time.
namespace heed {

/// Anything that is called with Args and returns a tensor. A copy has its own values; assigning a part of the
/// same type writes the values in place. A moved-from AnyCallable is empty: it has no members, and calling it
/// throws.
template <class... Args>
class AnyCallable {
 public:
  template <class Part>
    requires(!std::is_same_v<Part, AnyCallable> && std::is_invocable_r_v<Tensor, Part&, Args...>)
  AnyCallable(Part given)
      : held_(Held<Part>{std::move(given)}),
        visit_([](Function& held, Visitor& v) {
          if constexpr (Visitable<Part>) v("", held.template target<Held<Part>>()->part);
        }),
        assign_([](Function& to, const Function& from) {
          auto* own = to.template target<Held<Part>>();
          const auto* other = from.template target<Held<Part>>();
          if constexpr (std::is_copy_assignable_v<Part>)  // lambdas with captures are not
            if (own && other) return own->part = other->part, true;
          return false;
        }) {}
  AnyCallable(const AnyCallable&) = default;
  AnyCallable(AnyCallable&&) noexcept = default;
  AnyCallable& operator=(const AnyCallable& other) {
    if (this != &other && !assign_(held_, other.held_)) *this = AnyCallable(other);
    return *this;
  }
  AnyCallable& operator=(AnyCallable&&) noexcept = default;

  Tensor operator()(Args... args) const {
    check(held_ != nullptr, "AnyCallable: there is nothing to call; what it held was moved to another place");
    Tensor y = held_(args...);
    check(y.defined(), "AnyCallable: the part that was called returned an undefined tensor");
    return y;
  }
  void visit(Visitor& v) {
    if (held_) visit_(held_, v);
  }
  /// The part if it has this type, else null.
  template <class Part>
  Part* get() const& {
    auto* held = held_.template target<Held<Part>>();
    return held ? &held->part : nullptr;
  }
  template <class Part>
  Part* get() && = delete;  // it would dangle

 private:
  template <class Part>
  struct Held {  // calls from here, so that errors name no line of the standard library
    Tensor operator()(Args... args) { return part(args...); }
    Part part;
  };
  using Function = std::function<Tensor(Args...)>;
  mutable Function held_;
  void (*visit_)(Function& held, Visitor& v);
  bool (*assign_)(Function& to, const Function& from);  // in place; false if the types differ
};

}  // namespace heed
