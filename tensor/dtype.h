#pragma once

#include <cstdint>

#include "tensor/error.h"
#include "tensor/print.h"

/// The types of elements.
namespace heed {

/// The type of an element: a property of the value, known at run time, never a template parameter of a
/// tensor.
enum class DType : uint8_t { float32, float64, int64, boolean };

using enum DType;

/// The bytes of an element.
constexpr int64_t size_of(DType dtype) {
  constexpr int64_t sizes[] = {4, 8, 8, 1};
  return sizes[static_cast<int>(dtype)];
}

/// Whether it is float32 or float64.
constexpr bool is_floating(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }

/// "float32", "float64", "int64" or "bool".
constexpr const char* name_of(DType dtype) {
  constexpr const char* names[] = {"float32", "float64", "int64", "bool"};
  return names[static_cast<int>(dtype)];
}

/// name_of as a string.
inline std::string to_string(DType dtype) { return name_of(dtype); }

/// The dtype that stores a C++ type.
template <class T>
inline constexpr DType dtype_of = [] {
  if constexpr (std::is_same_v<T, float>) return DType::float32;
  if constexpr (std::is_same_v<T, double>) return DType::float64;
  if constexpr (std::is_same_v<T, int64_t>) return DType::int64;
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
}();

/// A tag that passes a type to a generic lambda.
template <class T>
struct Type {};

/// Calls `f(Type<T>{})` with the C++ type that `dtype` stores, which must be a floating one:
///
///   visit_floating(x.dtype(), [&]<class T>(Type<T>) { ... });
decltype(auto) visit_floating(DType dtype, auto&& f) {
  check(is_floating(dtype), "expected a floating tensor, got ", dtype, "; convert with to(x, float32)");
  if (dtype == DType::float32) return f(Type<float>{});
  return f(Type<double>{});
}

/// The same for every dtype but bool.
decltype(auto) visit_numbers(DType dtype, auto&& f) {
  check(dtype != boolean, "expected numbers, got a bool tensor; convert with to(x, int64)");
  if (dtype == int64) return f(Type<int64_t>{});
  return visit_floating(dtype, f);
}

/// The same for every dtype.
decltype(auto) visit_dtype(DType dtype, auto&& f) {
  if (dtype == boolean) return f(Type<bool>{});
  return visit_numbers(dtype, f);
}

}  // namespace heed
