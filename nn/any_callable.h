#pragma once

#include <any>

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
      : any_(std::move(given)),
        call_([](std::any& held, Args... args) -> Tensor { return (*std::any_cast<Part>(&held))(args...); }),
        visit_([](std::any& held, Visitor& v) {
          if constexpr (Visitable<Part>)
            if (auto* part = std::any_cast<Part>(&held)) v("", *part);
        }),
        assign_([](std::any& to, const std::any& from) {
          auto* own = std::any_cast<Part>(&to);
          const auto* other = std::any_cast<Part>(&from);
          if constexpr (std::is_copy_assignable_v<Part>)  // lambdas with captures are not
            if (own && other) return *own = *other, true;
          return false;
        }) {}
  AnyCallable(const AnyCallable&) = default;
  AnyCallable(AnyCallable&&) noexcept = default;
  AnyCallable& operator=(const AnyCallable& other) {
    if (this != &other && !assign_(any_, other.any_)) *this = AnyCallable(other);
    return *this;
  }
  AnyCallable& operator=(AnyCallable&&) noexcept = default;

  Tensor operator()(Args... args) const {
    check(any_.has_value(), "AnyCallable: there is nothing to call; what it held was moved to another place");
    Tensor y = call_(any_, args...);
    check(y.defined(), "AnyCallable: the part that was called returned an undefined tensor");
    return y;
  }
  void visit(Visitor& v) { visit_(any_, v); }
  /// The part if it has this type, else null.
  template <class Part>
  Part* get() const& {
    return std::any_cast<Part>(&any_);
  }
  template <class Part>
  Part* get() && = delete;  // it would dangle

 private:
  mutable std::any any_;
  Tensor (*call_)(std::any& held, Args... args);
  void (*visit_)(std::any& held, Visitor& v);
  bool (*assign_)(std::any& to, const std::any& from);  // in place; false if the types differ
};

}  // namespace heed
