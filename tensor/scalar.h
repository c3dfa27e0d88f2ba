#pragma once

#include <cmath>
#include <concepts>

#include "tensor/dtype.h"

/// Numbers of C++ before they meet a dtype.
namespace heed {

/// Whether a dtype stores T.
template <class T>
inline constexpr bool is_element = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                   std::is_same_v<T, int64_t> || std::is_same_v<T, bool>;

/// A number of C++ before it meets a dtype. An integer is kept to its last digit, which a double would round
/// from 2^53 on; everything else, and an unsigned integer from 2^63 on, is a double.
class Scalar {
 public:
  /// A whole number.
  constexpr Scalar(std::integral auto value)
      : is_integer_(std::signed_integral<decltype(value)> || static_cast<int64_t>(value) >= 0),
        integer_(static_cast<int64_t>(value)),
        real_(static_cast<double>(value)) {}
  /// Any other number.
  constexpr Scalar(std::floating_point auto value) : real_(static_cast<double>(value)) {}

  /// True when it was given as an integer.
  constexpr bool is_integer() const { return is_integer_; }

  /// True when a tensor of this dtype can hold the number: for int64 a whole one in its range, for bool 0
  /// or 1.
  bool fits(DType dtype) const {
    if (is_floating(dtype)) return true;
    if (dtype == boolean) return real_ == 0 || real_ == 1;
    return is_integer_ || (real_ == std::trunc(real_) && real_ >= -0x1p63 && real_ < 0x1p63);
  }

  /// The number as an element: float, double, int64_t or bool. Throws when it does not fit.
  template <class T>
  T to() const {
    if (!fits(dtype_of<T>)) [[unlikely]]
      throw_unfit(*this, dtype_of<T>);
    return is_integer_ ? static_cast<T>(integer_) : static_cast<T>(real_);
  }

 private:
  friend std::string to_string(Scalar number) {
    return number.is_integer_ ? std::to_string(number.integer_) : to_string(number.real_);
  }

  // Takes no reference to what to() reads, so that a number stays in registers.
  [[noreturn]] static void throw_unfit(Scalar number, DType dtype) {
    fail("the number ", number, " does not fit a ", dtype, " tensor; convert the tensor with to(x, float32)");
  }

  bool is_integer_ = false;
  int64_t integer_ = 0;
  double real_;
};

}  // namespace heed
