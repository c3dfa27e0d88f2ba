#include "nn/layers/pool.h"

#include "nn/debug/check_module.h"
#include "tests/support/expect.h"

TEST_CASE("pooling layers") {
  const Tensor x = reshape(arange(16, float32), {1, 4, 4});
  CHECK(values(MaxPool2d(2)(x)) == Values{5, 7, 13, 15});
  CHECK(values(AvgPool2d(2)(x)) == Values{2.5, 4.5, 10.5, 12.5});
  CHECK(MaxPool2d(3, {.stride = 1, .padding = 1})(x).shape() == Shape{1, 4, 4});
  CHECK(values(MaxPool1d(3)(reshape(x, {1, 16}))) == Values{2, 5, 8, 11, 14});
  CHECK(values(AvgPool1d(4, {.stride = 6})(reshape(x, {1, 16}))) == Values{1.5, 7.5, 13.5});
  CHECK(MaxPool2d(2).parameters().empty());
  for (const ModuleReport& report : {check_module([] { return MaxPool2d(2); }, {randn({2, 2, 4, 5})}),
                                     check_module([] { return AvgPool1d(2); }, {randn({2, 2, 4})})})
    CHECK_MESSAGE(report.ok(), to_string(report));
}
