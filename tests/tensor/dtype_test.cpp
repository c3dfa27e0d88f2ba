#include "tensor/dtype.h"

#include "tests/support/expect.h"

TEST_CASE("each dtype has its C++ type, size and name") {
  const auto is = []<class T>(Type<T>, DType dtype, const char* name, bool floating) {
    return dtype_of<T> == dtype && size_of(dtype) == sizeof(T) && to_string(dtype) == name &&
           std::string(name_of(dtype)) == name && is_floating(dtype) == floating &&
           visit_dtype(dtype, []<class U>(Type<U>) { return std::is_same_v<U, T>; });
  };
  CHECK(is(Type<float>{}, float32, "float32", true));
  CHECK(is(Type<double>{}, float64, "float64", true));
  CHECK(is(Type<int64_t>{}, int64, "int64", false));
  CHECK(is(Type<bool>{}, boolean, "bool", false));
}

TEST_CASE("visit_floating and visit_numbers throw for other dtypes") {
  const auto bytes = []<class T>(Type<T>) { return sizeof(T); };
  CHECK(visit_floating(float32, bytes) == 4);
  CHECK(visit_floating(float64, bytes) == 8);
  CHECK(visit_numbers(float32, bytes) == 4);
  CHECK(visit_numbers(int64, []<class T>(Type<T>) { return std::is_same_v<T, int64_t>; }));
  CHECK_ERROR(visit_floating(int64, bytes),
              "expected a floating tensor, got int64; convert with to(x, float32)");
  CHECK_ERROR_HAS(visit_floating(boolean, bytes), "got bool");
  CHECK_ERROR(visit_numbers(boolean, bytes),
              "expected numbers, got a bool tensor; convert with to(x, int64)");
}
