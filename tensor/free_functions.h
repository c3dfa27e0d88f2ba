#pragma once

#include <cstdint>
#include <initializer_list>

/// What the compiler says about x.sum().
namespace heed {

namespace detail {

/// Base of Tensor whose members only produce a helpful compile error: operations are free functions.
template <class Self>
class OperationsAreFreeFunctions {
 public:
  template <class... Arguments>
  Self sum(const Arguments&...) const {
    static_assert(is_member<Arguments...>, "operations are free functions: sum(x, ...), not x.sum(...)");
    return {};
  }
  template <class Size = int64_t>
  Self view(std::initializer_list<Size>) const {
    static_assert(is_member<Size>, "operations are free functions: view(x, {...}), not x.view(...)");
    return {};
  }
  template <class... Sizes>
  Self view(const Sizes&...) const {
    static_assert(is_member<Sizes...>, "operations are free functions: view(x, {...}), not x.view(...)");
    return {};
  }

 private:
  template <class...>
  static constexpr bool is_member = false;
};

}  // namespace detail
}  // namespace heed
