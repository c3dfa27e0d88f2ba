#include "tensor/kernels/past_caches.h"

#include "tensor/create.h"
#include "tests/support/expect.h"

TEST_CASE("each_gradient_row: each row is written once, in place or past the caches") {
  const auto check_rows = []<class T>(int64_t rows, int64_t n, bool streams, T) {
    CAPTURE(rows);
    CAPTURE(n);
    const Tensor out = full({rows, n}, -1, dtype_of<T>);
    T* const data = out.mutable_data<T>();
    bool in_place = false;
    kernel::each_gradient_row(rows, n, 7, data, [&](int64_t r, T* row, bool more_streamed) {
      in_place = row == data + r * n;
      CHECK(more_streamed == (streams && r % 7 != 6 && r + 1 < rows));
      for (int64_t j = 0; j < n; ++j) row[j] = static_cast<T>(r * 8192 + j);
    });
    CHECK(in_place == (!streams && rows > 0));
    int64_t wrong = 0;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < n; ++j) wrong += data[r * n + j] != static_cast<T>(r * 8192 + j);
    CHECK(wrong == 0);
  };
  const Threads one(1);
  check_rows(3, 5, false, 0.0F);
  check_rows(300, 8192, true, 0.0F);
  check_rows(300, 8191, false, 0.0F);  // rows of a length that is no multiple of 16 bytes
  check_rows(150, 8192, true, 0.0);
  check_rows(0, 8192, false, 0.0);
}
