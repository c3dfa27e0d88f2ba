#include "autograd/operand.h"

#include <doctest/doctest.h>

#include "tensor/create.h"
#include "tests/support/expect.h"

using namespace heed;

namespace {

std::source_location line_of(Operand x) { return x.line(); }

// The dtype that a number gets beside a tensor, or the error.
std::string adopted(Operand a, Operand b) {
  const std::string error = message([&] { adopt("op", a, b); });
  return error.empty() ? to_string(a->dtype()) : error;
}

}  // namespace

TEST_CASE("an operand is a tensor or a number, and the line where it was written") {
  const Tensor x = ones({2, 3});
  const Operand tensor_operand = x, number = 2, real = 2.5f, none;
  CHECK(tensor_operand.tensor().same_as(x));
  CHECK(tensor_operand->dim() == 2);
  CHECK_FALSE(tensor_operand.is_number());
  CHECK(number.is_number());
  CHECK(number.number() == 2);
  CHECK(real.number() == 2.5);
  CHECK_FALSE(number.defined());
  CHECK_FALSE(none.defined());
  CHECK_FALSE(none.requires_grad());
  CHECK(message([&] { none->shape(); }).find("a tensor that is needed here is undefined") == 0);

  CHECK(line_of(x).line() == __LINE__);
  CHECK(line_of(3).line() == __LINE__);
  CHECK(std::string(line_of(x).file_name()) == __FILE__);
}

TEST_CASE("an operand may become another tensor and keeps its line") {
  Operand x = 3;
  const auto line = x.line().line();
  x.become(ones({2}));
  CHECK_FALSE(x.is_number());
  CHECK(x.tensor().shape() == Shape{2});
  CHECK(x.line().line() == line);
  const Operand copy = x;  // holds the tensor itself
  x.become(zeros({1}));
  CHECK(copy->shape() == Shape{2});
}

TEST_CASE("numbers take the dtype of the tensor beside them") {
  const Tensor f = ones({2}), d = ones({3}, float64), i = ones({}, int64), b = ones({1}, boolean);
  CHECK(adopted(1.5, f) == "float32");
  CHECK(adopted(1.5, d) == "float64");
  CHECK(adopted(-2, i) == "int64");
  CHECK(adopted(2.0, i) == "int64");
  CHECK(adopted(true, b) == "bool");
  CHECK(adopted(1, 2.5) == "float32");
  CHECK(adopted(d, 1) == "float64");

  Operand number = 1.5;
  Operand other = d;
  adopt("op", number, other);
  CHECK(number->shape() == Shape{});
  CHECK(values(number) == std::vector<double>{1.5});
}

TEST_CASE("dtypes that do not fit are refused") {
  const Tensor f = ones({2}), d = ones({3}, float64), i = ones({}, int64), b = ones({1}, boolean);
  CHECK(adopted(1.5, i) ==
        "op: the number 1.5 does not fit a int64 tensor; convert the tensor with to(x, float32)");
  CHECK(adopted(2, b).find("op: the number 2 does not fit a bool tensor") == 0);
  CHECK(
      adopted(f, d).find("op: a is float32 [2], b is float64 [3]; operands must have one dtype, convert one "
                         "with to(x, float64)") == 0);
  CHECK(adopted(f, i).find("convert one with to(x, float32)") != std::string::npos);
  CHECK(adopted(i, f).find("convert one with to(x, float32)") != std::string::npos);

  CHECK(message([&] { check_floating("op", i); }) ==
        "op: x is int64 []; this operation is for float32 and float64, convert with to(x, float32)");
  CHECK(message([&] { check_floating("op", f), check_floating("op", d), check_indices("op", i); }).empty());
  CHECK(message([&] { check_indices("op", f); }) ==
        "op: positions must be int64, and they are float32 [2]; convert with to(x, int64)");
  CHECK(check_dim("op", f, -1) == 0);
  CHECK(message([&] { check_dim("op", f, 1); }) ==
        "op: dim 1 is out of range for a tensor of rank 1: use -1 to 0");
}
