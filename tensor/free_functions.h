#pragma once

#include <cstdint>
#include <initializer_list>

/// What the compiler says about x.sum().
namespace heed {

namespace detail {

/// A member `op` that is called with anything, also with a list in braces.
#define HEED_FREE_FUNCTION(op, arguments)                                                        \
  template <class... Arguments>                                                                  \
  Result op(const Arguments&...) const {                                                         \
    static_assert(is_member<Arguments...>,                                                       \
                  "operations are free functions: " #op "(x" arguments "), not x." #op "(...)"); \
    return {};                                                                                   \
  }                                                                                              \
  template <class Number = int64_t, class... Arguments>                                          \
  Result op(std::initializer_list<Number>, const Arguments&...) const {                          \
    return op(Number());                                                                         \
  }

/// Base of Tensor and Parameter whose members only produce a helpful compile error: operations are free
/// functions.
template <class Self, class Result = Self>
class OperationsAreFreeFunctions {
 public:
  HEED_FREE_FUNCTION(sum, ", ...")
  HEED_FREE_FUNCTION(mean, ", ...")
  HEED_FREE_FUNCTION(max, ", ...")
  HEED_FREE_FUNCTION(argmax, ", dim")
  HEED_FREE_FUNCTION(softmax, ", dim")
  HEED_FREE_FUNCTION(matmul, ", y")
  HEED_FREE_FUNCTION(view, ", {...}")
  HEED_FREE_FUNCTION(reshape, ", {...}")
  HEED_FREE_FUNCTION(permute, ", {...}")
  HEED_FREE_FUNCTION(transpose, ", dim0, dim1")
  HEED_FREE_FUNCTION(t, "")
  HEED_FREE_FUNCTION(unsqueeze, ", dim")
  HEED_FREE_FUNCTION(to, ", dtype")
  HEED_FREE_FUNCTION(exp, "")
  HEED_FREE_FUNCTION(add_, ", y")

 private:
  template <class...>
  static constexpr bool is_member = false;
};
#undef HEED_FREE_FUNCTION

}  // namespace detail
}  // namespace heed
