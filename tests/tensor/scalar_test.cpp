#include "tensor/scalar.h"

#include "tests/support/expect.h"

TEST_CASE("a Scalar stores integers exactly") {
  const int64_t big = (int64_t{1} << 53) + 1;
  for (const int64_t value : {int64_t{0}, big, -big, INT64_MAX, INT64_MIN}) {
    CHECK(Scalar(value).to<int64_t>() == value);
    CHECK(to_string(Scalar(value)) == std::to_string(value));
  }
  CHECK(Scalar(uint64_t{1} << 62).to<int64_t>() == int64_t{1} << 62);
  CHECK(Scalar('a').to<int64_t>() == 97);
  CHECK(Scalar(0.1f).to<float>() == 0.1f);
  CHECK(to_string(Scalar(0.5)) == "0.5");
}

TEST_CASE("a Scalar that does not fit the dtype throws") {
  CHECK(Scalar(3.0).to<int64_t>() == 3);
  CHECK(Scalar(-0x1p63).to<int64_t>() == INT64_MIN);
  CHECK(Scalar(1.0).to<bool>());
  CHECK(Scalar(uint64_t{1} << 63).to<double>() == 0x1p63);
  const std::string mend = "; convert the tensor with to(x, float32)";
  for (const Scalar value :
       {Scalar(2.7), Scalar(0x1p63), Scalar(NAN), Scalar(-INFINITY), Scalar(~uint64_t{0})})
    CHECK(message([=] { value.to<int64_t>(); }) ==
          "the number " + to_string(value) + " does not fit a int64 tensor" + mend);
  for (const Scalar value : {Scalar(2), Scalar(-1), Scalar(0.5), Scalar(NAN)})
    CHECK(message([=] { value.to<bool>(); }) ==
          "the number " + to_string(value) + " does not fit a bool tensor" + mend);
}
